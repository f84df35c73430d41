// Where a call of a library ends: at its callback, at its promise, where that is settled, or with its events. What the caller gets back, and in which order,
// stays as it is.

import type { EventEmitter } from 'node:events';
import { types } from 'node:util';
import { isThenable } from '../base/calls/timers.js';
import { fieldOf, reasonOf } from './failure.js';
import { type Caller, emitFor } from './in-context.js';
import type { Method } from './replace-method.js';
import type { Outcome } from './traced-channel.js';

/** What a call calls back. */
export type Callback = (this: unknown, error: unknown, ...rest: unknown[]) => unknown;
/** Ends the span of a call, with what it failed with, if it did, else with what it gave. */
export type Ending = (error: unknown, result?: unknown) => void;

/** Ends with a promise, in whose place the caller gets another: one on the side would answer for a failure that the program leaves unhandled. */
export const endingWith = (result: PromiseLike<unknown>, ended: Ending): PromiseLike<unknown> =>
  result.then(
    (value) => {
      ended(undefined, value);
      return value;
    },
    (error: unknown) => {
      ended(reasonOf(error));
      throw error;
    },
  );

/** What settles the promise of a caller, as a library keeps it. */
export interface Waiting {
  resolve: Method;
  reject: Method;
}
export type Over = (outcome: Outcome) => void;

/**
 * The same where the promise is settled: `over` hears what `waiting` came to. What the library does with an answer may make a failure of it, which is
 * heard instead.
 */
export const hearAnswer = (waiting: Waiting, over: Over): void => {
  const { resolve, reject } = waiting;
  let isOver = false;
  const once = (outcome: Outcome): void => {
    if (!isOver) over(outcome);
    isOver = true;
  };
  waiting.resolve = function (this: unknown, ...args) {
    const given = Reflect.apply(resolve, this, args);
    once({ result: args[0] });
    return given;
  };
  waiting.reject = function (this: unknown, ...args) {
    once({ error: args[0] });
    return Reflect.apply(reject, this, args);
  };
};

/**
 * The same of events, whose listeners are called in the context of `caller`. Heard where they are emitted: a listener for errors would keep an unheard
 * one from being thrown.
 */
export const endingWithEvents = (caller: Caller, emitter: EventEmitter, ended: Ending | undefined): void =>
  emitFor(caller, emitter, (name, value) => {
    if (name === 'error') ended?.(value);
    else if (name === 'end' || name === 'close') ended?.(undefined);
  });

export const isEmitter = (result: unknown): result is EventEmitter =>
  typeof (result as EventEmitter | null | undefined)?.emit === 'function';

/** Whether it is a promise, of Node or of a library: not what only begins when it is waited for, as a query of a builder. */
export const isPromise = (result: unknown): result is PromiseLike<unknown> =>
  types.isPromise(result) || (isThenable(result) && fieldOf(fieldOf(result, 'constructor'), 'name') === 'Promise');

/** What `work` gives, or throws. It ends when it returns, or with its promise. */
export const endingAfter = (work: () => unknown, ended: Ending): unknown => {
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    ended(reasonOf(error));
    throw error;
  }
  if (isThenable(result)) return endingWith(result, ended);
  ended(undefined);
  return result;
};
