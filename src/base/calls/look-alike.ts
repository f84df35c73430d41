// A function in place of another one, alike to its readers: its name, its length and what it has of its own, as `util.promisify.custom`. What makes
// it a constructor is not taken over.

export type AnyFunction = (...args: never[]) => unknown;

const OWN_KIND: readonly PropertyKey[] = ['name', 'length', 'prototype', 'arguments', 'caller'];

/** `copy`, which looks like `original` now; but for what it has of its own already. Throws what a proxy's traps throw. */
export const lookAlike = <F extends AnyFunction>(copy: F, original: AnyFunction): F => {
  Object.defineProperty(copy, 'name', { value: original.name, configurable: true });
  Object.defineProperty(copy, 'length', { value: original.length, configurable: true });
  for (const key of Reflect.ownKeys(original)) {
    if (OWN_KIND.includes(key) || Object.hasOwn(copy, key)) continue;
    const descriptor = Reflect.getOwnPropertyDescriptor(original, key);
    if (descriptor !== undefined) Object.defineProperty(copy, key, descriptor);
  }
  return copy;
};
