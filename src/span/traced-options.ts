// Options of traced(): types, and the check that throws at definition time and names the wrong option.

import { types } from 'node:util';
import { OptionError } from '../base/errors.js';
import type { Properties, SpanKind } from '../rows/property.js';
import { KINDS as SPAN_KINDS } from '../rows/row-chunk.js';

// biome-ignore lint/suspicious/noExplicitAny: parameter lists of arbitrary functions; `unknown[]` refuses every typed one.
export type Arguments = any[];

/** Options of {@link traced}. */
export interface TracedOptions<A extends Arguments = Arguments> {
  /** Name of the span. Default: `Class.method`, or the function's name. */
  readonly name?: string;
  /** Use the method's name alone. Not together with `name`. */
  readonly shortName?: boolean;
  /** Properties from the arguments. Evaluated before the body, and only when recording. */
  readonly properties?: Properties | ((...args: A) => Properties);
  /** Kind of the span; only for functions that get a span of their own, not a local span. */
  readonly kind?: SpanKind;
  /** Generators only: also one local span for each resumption. */
  readonly enterOnResume?: boolean;
  /** Treat a plain function that returns a promise as an async function: a span that ends when the promise settles. */
  readonly async?: boolean;
}

/** What kind of function is traced. */
export type FunctionKind = 'sync' | 'async' | 'generator' | 'async generator';

const KINDS: ReadonlyMap<unknown, FunctionKind> = new Map([
  ['AsyncFunction', 'async'],
  ['GeneratorFunction', 'generator'],
  ['AsyncGeneratorFunction', 'async generator'],
]);

/** By the tag every function of these kinds has, in any realm. */
export const functionKind = (fn: unknown): FunctionKind => {
  try {
    return KINDS.get((fn as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag]) ?? 'sync';
  } catch {
    // A proxy whose trap throws: it is called like any function.
    return 'sync';
  }
};

// The text of a class starts so, whatever it extends and wherever it is from.
const CLASS = /^class\b/;

/** A class by its syntax, or a proxy of one: calling it without `new` throws. */
export const isClass = (value: unknown): boolean => {
  if (typeof value !== 'function') return false;
  if (CLASS.test(Function.prototype.toString.call(value))) return true;
  try {
    // A proxy has no text of its own. The prototype of a class cannot be replaced; of what is frozen nothing can.
    if (!types.isProxy(value) || Object.isFrozen(value)) return false;
    return Object.getOwnPropertyDescriptor(value, 'prototype')?.writable === false;
  } catch {
    // A proxy whose trap throws: it is called like any function.
    return false;
  }
};

const wrong = (message: string): never => {
  throw new OptionError(`traced: ${message}`);
};

// An array, a Map or Headers have keys of another kind than options and properties. A trap that throws is found when it is read.
const isRecord = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  return types.isProxy(value) || !(Symbol.iterator in value);
};

const CHECKS: Readonly<Record<keyof TracedOptions, (value: unknown) => boolean>> = {
  name: (value) => typeof value === 'string' && value !== '',
  shortName: (value) => typeof value === 'boolean',
  properties: (value) => typeof value === 'function' || isRecord(value),
  kind: (value) => SPAN_KINDS.includes(value as SpanKind),
  enterOnResume: (value) => typeof value === 'boolean',
  async: (value) => typeof value === 'boolean',
};

// What a proxy or a symbol would throw is not asked of it.
const shown = (value: unknown): string =>
  typeof value === 'object' || typeof value === 'function'
    ? `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`
    : String(value);

const entriesOf = (options: object): [string, unknown][] => {
  try {
    return Object.entries(options);
  } catch {
    return wrong('the options cannot be read: a getter or a proxy among them throws.');
  }
};

/** Check what can be known before the function is. */
export const checkOptions = (options: unknown): void => {
  if (!isRecord(options)) {
    const kind = options === null ? 'null' : typeof options === 'object' ? 'an iterable' : typeof options;
    wrong(`expected options, a name or a function, not ${kind}.`);
  }
  for (const [key, value] of entriesOf(options as object)) {
    const check = CHECKS[key as keyof TracedOptions];
    if (check === undefined) wrong(`unknown option "${key}". Known: ${Object.keys(CHECKS).join(', ')}.`);
    else if (value !== undefined && !check(value)) wrong(`option "${key}" cannot be ${shown(value)}.`);
  }
  const { name, shortName } = options as TracedOptions;
  if (name !== undefined && shortName) wrong('option "shortName" contradicts "name"; give one of them.');
};

/** Check what depends on the function. */
export const checkForKind = (options: TracedOptions, kind: FunctionKind): void => {
  const isGenerator = kind === 'generator' || kind === 'async generator';
  if (options.enterOnResume && !isGenerator) wrong('option "enterOnResume" is for generators only.');
  if (options.async !== undefined && isGenerator) wrong('option "async" is not for generators.');
  if (options.kind !== undefined && kind === 'sync' && !options.async) {
    wrong('option "kind" needs a span; a synchronous function has a local span, which is always "internal".');
  }
};

/** Thrown for a name alone, as other libraries' decorators take it. */
export const nameAlone = (name: string): never =>
  wrong(`a name needs a function behind it; as a decorator write @traced({ name: '${name}' }).`);

/** Thrown for a decorator in a place where it can do nothing. */
export const wrongPlace = (place: string): never =>
  wrong(`cannot decorate ${place}; it is for methods, getters, setters and function fields.`);
