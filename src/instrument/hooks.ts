// Functions that a program gives an instrumentation. What they throw is counted, and their answer taken for no.
import { Counter, count } from '../rows/counters.js';

/** What `hook` answers, as true or false; false without one and when it throws. */
export const callPredicate = <A extends readonly unknown[]>(
  hook: ((...args: A) => boolean) | undefined,
  ...args: A
): boolean => {
  if (hook === undefined) return false;
  try {
    return hook(...args) === true;
  } catch {
    count(Counter.callbackErrors);
    return false;
  }
};

/** What `hook` answers; undefined without one and when it throws. */
export const callHook = <A extends readonly unknown[], R>(
  hook: ((...args: A) => R) | undefined,
  ...args: A
): R | undefined => {
  if (hook === undefined) return undefined;
  try {
    return hook(...args);
  } catch {
    count(Counter.callbackErrors);
    return undefined;
  }
};
