// Waiting for a promise that a traced function gave. What is returned in its place must be as much like it as can be: of
// the same realm, with its own properties, rejected as unhandled as it was. Nothing else may be called on it or changed.
//
// The promise itself cannot be given back: a waiter for it has handled it, so that a rejection nobody else handles
// would no longer reach `unhandledRejection`, and whether somebody else does cannot be asked.
import { types } from 'node:util';

// The language's own, whatever a program made of the global.
const PROTOTYPE = Object.getPrototypeOf((async () => {})()) as Promise<unknown>;
const { then } = PROTOTYPE;
const NATIVE_CONSTRUCTOR = Function.prototype.toString.call(PROTOTYPE.constructor);

const isConstructor = (value: unknown, prototype: object): boolean =>
  typeof value === 'function' &&
  Function.prototype.toString.call(value) === NATIVE_CONSTRUCTOR &&
  value.prototype === prototype;

// Every realm (a vm context, a test environment) has a Promise of its own.
const isForeignPrototype = (prototype: object | null): boolean => {
  if (prototype === null || types.isProxy(prototype)) return false;
  return isConstructor(Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value, prototype);
};

/**
 * A promise of this realm or another, of no subclass. Only such a one is waited for: `then` of another thenable may start
 * its work, and that of a subclass makes an object of the subclass. Runs no getter and no trap.
 */
export const isPlainPromise = (value: unknown): value is Promise<unknown> => {
  if (typeof value !== 'object' || value === null || !types.isPromise(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return (prototype === PROTOTYPE || isForeignPrototype(prototype)) && !Object.hasOwn(value, 'constructor');
};

/** What `promise.then(onValue, onError)` gives, with the own properties of a promise that is {@link isPlainPromise}. */
export const follow = <T>(
  promise: Promise<T>,
  onValue: (value: T) => T,
  onError: (error: unknown) => never,
): Promise<T> => withOwn(promise, followFresh(promise, onValue, onError));

/** The same for the promise of an `async` function, which nobody has had in hand: there is nothing to look at. */
export const followFresh = <T>(
  promise: Promise<T>,
  onValue: (value: T) => T,
  onError: (error: unknown) => never,
): Promise<T> => then.call(promise, onValue as (value: unknown) => T, onError) as Promise<T>;

// Until Node 22 every promise has keys of async_hooks, each its own. Nobody has had `to` in hand: what it has is theirs.
const hookKeys: PropertyKey[] = [];

const withOwn = <T extends object>(from: object, to: T): T => {
  for (const key of Reflect.ownKeys(from)) {
    if (hookKeys.includes(key)) continue;
    if (Object.hasOwn(to, key)) hookKeys.push(key);
    else Object.defineProperty(to, key, Object.getOwnPropertyDescriptor(from, key) as PropertyDescriptor);
  }
  if (Object.isExtensible(from)) return to;
  if (Object.isFrozen(from)) return Object.freeze(to);
  return Object.isSealed(from) ? Object.seal(to) : Object.preventExtensions(to);
};

export type Follow = typeof follow;

/** How to wait for what `maker` gave; undefined when it is not to be waited for. */
export const followerOf = (result: unknown, maker: unknown): Follow | undefined => {
  if (typeof result !== 'object' || result === null) return undefined;
  if (types.isAsyncFunction(maker)) return followFresh;
  return isPlainPromise(result) ? follow : undefined;
};
