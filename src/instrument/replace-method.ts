// A method of a class of others, replaced by one that calls it. The way back never takes away what somebody put there later.
import { lookAlike } from '../base/calls/look-alike.js';
import type { Off } from './channel.js';

export type Method = (this: unknown, ...args: unknown[]) => unknown;
export type Prototype = Record<string, Method>;

/** Puts what `make` gives in place of the method `name`; nothing where there is none. */
export const replaceMethod = (
  prototype: Prototype | undefined,
  name: string,
  make: (original: Method) => Method,
): Off => {
  const original = prototype?.[name];
  if (prototype === undefined || typeof original !== 'function') return () => {};
  const wrapped = lookAlike(make(original), original);
  prototype[name] = wrapped;
  return () => {
    if (prototype[name] === wrapped) prototype[name] = original;
  };
};
