// Functions that a program gives an instrumentation. What they throw is counted, and their answer taken for no.
import { Counter, count } from '../rows/counters.js';

/** What `hook` answers, as true or false; false without one and when it throws. */
export const isTold = <A extends readonly unknown[]>(
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

/** Call `hook`, when there is one. */
export const tell = <A extends readonly unknown[]>(hook: ((...args: A) => void) | undefined, ...args: A): void => {
  if (hook === undefined) return;
  try {
    hook(...args);
  } catch {
    count(Counter.callbackErrors);
  }
};

/** What `hook` answers; undefined without one and when it throws. */
export const told = <A extends readonly unknown[], R>(
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
