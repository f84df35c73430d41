// The instrumentation scopes of spans as small numbers, so that a row is numbers only: which library a span was recorded by. One table a
// thread, shared by every copy of the library, and bounded: a span whose scope finds no place is one of this library.
import { state } from '../context/process-state.js';
import type { Properties, PropertyValue } from './property.js';

/** The library that recorded a span, where it is not this one. Make one object a library and keep it. */
export interface SpanScope {
  readonly name: string;
  /** Empty where it is not known. */
  readonly version: string;
  readonly properties: Readonly<Record<string, PropertyValue>>;
  /** Which conventions its spans follow. */
  readonly schemaUrl?: string;
}

/** Scopes a thread numbers. */
export const MAX_SCOPES = 4095;

const scopes = state.scopes as SpanScope[];

/** The number of `scope`, from 1 on; 0 when it finds no place. */
export const internScope = (scope: SpanScope): number => {
  const known = scopes.indexOf(scope) + 1;
  if (known > 0) return known;
  return scopes.length < MAX_SCOPES ? scopes.push(scope) : 0;
};

/** The scope with this number; undefined for 0, which is this library. */
export const internedScope = (number: number): SpanScope | undefined => scopes[number - 1];

const EMPTY = Object.freeze({});

/** A scope as a library describes itself; equal descriptions are one scope. */
export const spanScope = (
  name: string,
  version = '',
  schemaUrl = '',
  properties: Properties | undefined = undefined,
): SpanScope => {
  const given = Object.entries(properties ?? EMPTY).filter(([, value]) => value !== undefined);
  const own = given.length === 0 ? EMPTY : Object.freeze(Object.fromEntries(given) as Record<string, PropertyValue>);
  const made = { name, version, properties: own, ...(schemaUrl === '' ? undefined : { schemaUrl }) };
  return scopes.find((one) => isEqual(one, made)) ?? Object.freeze(made);
};

const isEqual = (a: SpanScope, b: SpanScope): boolean => {
  if (a.name !== b.name || a.version !== b.version || a.schemaUrl !== b.schemaUrl) return false;
  const [ofA, ofB] = [Object.entries(a.properties), Object.entries(b.properties)];
  return ofA.length === ofB.length && ofA.every(([key, value]) => String(b.properties[key]) === String(value));
};
