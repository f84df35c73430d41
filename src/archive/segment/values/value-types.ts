// The types of property values as files have them. A value must come back with the type it had: 5 and 5n are two, 0 and -0 as well. What
// would come back as something else, such as a Date or a Map, is no value.
import { isUint8Array } from 'node:util/types';
import { BadValueError } from '../../../container/graph-error.js';
import { ArchivedDouble } from '../../../trace/archived-double.js';
import type { ArchivedValue } from '../../../trace/archived-span.js';

/** A type's number in files. */
export const ValueType = {
  text: 0,
  /** A whole number that a varint holds; never -0. */
  whole: 1,
  /** Every other number. */
  real: 2,
  no: 3,
  yes: 4,
  bigint: 5,
  bytes: 6,
  list: 7,
  map: 8,
  /** A double that is a whole number. */
  double: 9,
  /** Without content. */
  empty: 10,
} as const;

/** Types there are. */
export const VALUE_TYPES = 11;

/** Zigzag varints hold these. */
const MAX_WHOLE = 2 ** 52 - 1;

/** The type of a value. Throws `BadValueError` for what is no value. */
export const typeOf = (value: ArchivedValue): number => {
  switch (typeof value) {
    case 'string':
      return ValueType.text;
    case 'number':
      return Number.isInteger(value) && Math.abs(value) <= MAX_WHOLE && !Object.is(value, -0)
        ? ValueType.whole
        : ValueType.real;
    case 'boolean':
      return value ? ValueType.yes : ValueType.no;
    case 'bigint':
      return ValueType.bigint;
    case 'object':
      if (value === null) return ValueType.empty;
      if (isUint8Array(value)) return ValueType.bytes;
      if (Array.isArray(value)) return ValueType.list;
      if (value instanceof ArchivedDouble) return ValueType.double;
      if (isPlainObject(value)) return ValueType.map;
  }
  throw new BadValueError(`${describe(value)} is no value of a property${adviceOn(value)}`);
};

/** Whether a value is an object of keys and values and nothing more, of whatever realm. */
export const isPlainObject = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || isRootPrototype(prototype);
};

/** The prototype of plain objects, of another realm. */
const isRootPrototype = (prototype: object): boolean =>
  Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf');

/** What a value is, for errors: `undefined`, `a number`, `a Date`. */
export const describe = (value: unknown): string => {
  if (value === undefined || value === null) return String(value);
  if (Array.isArray(value)) return 'a list';
  const name = typeof value === 'object' ? (value.constructor?.name ?? 'object') : typeof value;
  return `${/^[AEIOUaeiou]/.test(name) ? 'an' : 'a'} ${name}`;
};

const adviceOn = (value: unknown): string => {
  if (value instanceof Date) return '; use its toISOString(), or its getTime() as a number';
  if (value instanceof Map) return '; use Object.fromEntries(map)';
  if (value instanceof Set) return '; use [...set]';
  return '';
};

/** Lists and maps inside each other at most. */
export const MAX_DEPTH = 64;

/** What a value takes in memory once decoded, about. */
export const decodedBytes = (value: ArchivedValue, depth = 0): number => {
  switch (typeof value) {
    case 'string':
      return 16 + value.length;
    case 'bigint':
      return 24;
    case 'object': {
      if (value === null || value instanceof ArchivedDouble) return 8;
      if (value instanceof Uint8Array) return 96 + value.length;
      if (depth > MAX_DEPTH) {
        throw new BadValueError(`lists and maps of a property lie more than ${MAX_DEPTH} deep inside each other`);
      }
      let bytes = 48;
      for (const [key, item] of Object.entries(value)) bytes += 16 + key.length + decodedBytes(item, depth + 1);
      return bytes;
    }
    default:
      return 8;
  }
};
