// What OpenTelemetry has beside properties and files have no column for: flags, schema URLs, counts of what was dropped. In files they are
// properties of reserved keys, which begin with NUL; a property whose own key begins so gets one more. So files of before are read as ever.
import { BadValueError } from '../graph/graph-error.js';
import type { ArchivedProperties, ArchivedValue } from './archived-span.js';
import { setProperty } from './properties.js';
import { describe } from './segment/values/value-types.js';

/** All of them; which ones a thing has is said by its type. */
export interface Extras {
  readonly flags?: number;
  readonly schemaUrl?: string;
  readonly droppedAttributesCount?: number;
  readonly droppedEventsCount?: number;
  readonly droppedLinksCount?: number;
}

type Field = keyof Extras;

const MARK = '\0';
const FIELDS: readonly Field[] = [
  'flags',
  'schemaUrl',
  'droppedAttributesCount',
  'droppedEventsCount',
  'droppedLinksCount',
];
const FIELD_OF: ReadonlyMap<string, Field> = new Map(FIELDS.map((field) => [MARK + field, field]));

const isMarked = (key: string): boolean => key.charCodeAt(0) === 0;

/** Whether a stored key is no key of a property as it is. */
export const isReserved = isMarked;

/** The key of a property as files have it. */
export const storedKey = (key: string): string => (isMarked(key) ? MARK + key : key);

const hasMarked = (properties: ArchivedProperties): boolean => {
  for (const key in properties) if (isMarked(key)) return true;
  return false;
};

/** Those that say something: zero and '' are what is not there. */
export const extrasOf = (extras: Extras): Extras => {
  const kept: Record<string, string | number> = {};
  for (const field of FIELDS) {
    const value = extras[field];
    if (value) kept[field] = value;
  }
  return kept;
};

/** What such a field has to be; nothing when its value is that. */
const expectedOf = (field: Field, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (field === 'schemaUrl') return typeof value === 'string' ? undefined : 'a text';
  const isCount = Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 32;
  return isCount ? undefined : 'a whole number from 0 to 2^32 - 1';
};

/** Throws `BadValueError` with the name of the first of these fields that is of the wrong kind; `place` is what has them. */
export const checkExtras = (thing: object, place: string): void => {
  for (const field of FIELDS) {
    const value = (thing as Readonly<Record<Field, unknown>>)[field];
    const expected = expectedOf(field, value);
    if (expected !== undefined)
      throw new BadValueError(`${place}.${field} must be ${expected}, not ${describe(value)}`);
  }
};

/** The properties to store of a thing. */
export const storedProperties = (thing: Extras & { readonly properties: ArchivedProperties }): ArchivedProperties => {
  const { properties } = thing;
  if (!FIELDS.some((field) => thing[field] !== undefined) && !hasMarked(properties)) return properties;
  checkExtras(thing, 'a span');
  const stored: Record<string, ArchivedValue> = {};
  for (const [field, value] of Object.entries(extrasOf(thing))) stored[MARK + field] = value as string | number;
  for (const key of Object.keys(properties)) setProperty(stored, storedKey(key), properties[key]);
  return stored;
};

/** What was stored, as it was. */
export const restored = (stored: ArchivedProperties): Extras & { readonly properties: ArchivedProperties } => {
  if (!hasMarked(stored)) return { properties: stored };
  const properties: Record<string, ArchivedValue> = {};
  const extras: Record<string, ArchivedValue> = {};
  for (const key of Object.keys(stored)) {
    const field = FIELD_OF.get(key);
    if (field !== undefined) extras[field] = stored[key];
    else setProperty(properties, key.startsWith(MARK + MARK) ? key.slice(1) : key, stored[key]);
  }
  return { ...(extras as Extras), properties };
};
