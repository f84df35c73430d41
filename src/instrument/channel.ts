// Subscriptions to diagnostics channels. A subscriber that throws ends the process, so none of ours may: what fails in one is counted in
// `stats().instrumentationErrors` and goes no further.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Counter, count } from '../rows/counters.js';

/** Takes back what was done. */
export type Off = () => void;

/** `listener`, for a library to call: what it throws is counted. */
export const quiet = <T, A extends readonly unknown[]>(
  listener: (this: T, ...args: A) => void,
): ((this: T, ...args: A) => void) =>
  function (this: T, ...args: A): void {
    try {
      Reflect.apply(listener, this, args);
    } catch {
      count(Counter.instrumentationErrors);
    }
  };

/** Calls `handler` for each message of the channel `name`. */
export const onMessage = <M>(name: string, handler: (message: M) => void): Off => {
  const subscriber = quiet(handler as (message: unknown) => void);
  subscribe(name, subscriber);
  return () => void unsubscribe(name, subscriber);
};

/** One for several, the last first: what was put around something comes off before it. */
export const allOff =
  (offs: readonly Off[]): Off =>
  () => {
    for (const off of [...offs].reverse()) off();
  };

/** `fn`, for others to call: what it throws is counted, and the answer then is that of `fallback`. */
export const orElse =
  <A extends readonly unknown[], R>(fallback: () => R, fn: (...args: A) => R): ((...args: A) => R) =>
  (...args) => {
    try {
      return fn(...args);
    } catch {
      count(Counter.instrumentationErrors);
      return fallback();
    }
  };
