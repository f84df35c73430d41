// Calls between libraries, programs and instrumentations: subscriptions to diagnostics channels and how they are taken back, and hooks. A subscriber
// that throws ends the process, so none of ours may: what fails in one is counted in `stats().instrumentationErrors`, what a hook throws in
// `callbackErrors`, and goes no further.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Counter, count } from '../rows/counters.js';

/** Takes back what was done. */
export type Off = () => void;

/** `fn`, for others to call: what it throws is counted, and the answer is undefined then. */
export const quiet = <T, A extends readonly unknown[], R>(
  fn: (this: T, ...args: A) => R,
): ((this: T, ...args: A) => R | undefined) =>
  function (this: T, ...args: A): R | undefined {
    try {
      return Reflect.apply(fn, this, args) as R;
    } catch {
      count(Counter.instrumentationErrors);
      return undefined;
    }
  };

/** Calls `handler` for each message of the channel `name`. */
export const onMessage = <M>(name: string, handler: (message: M) => void): Off => {
  // As `quiet`, without a list of arguments for each message.
  const subscriber = (message: unknown): void => {
    try {
      handler(message as M);
    } catch {
      count(Counter.instrumentationErrors);
    }
  };
  subscribe(name, subscriber);
  return () => void unsubscribe(name, subscriber);
};

/** One for several, the last first: what was put around something comes off before it. */
export const allOff =
  (offs: readonly Off[]): Off =>
  () => {
    for (const off of [...offs].reverse()) off();
  };

/** On what stands for a piece of work: what has begun it. */
const OWNER = Symbol('spanline.owner');
interface Work {
  [OWNER]?: InFlight | undefined;
}

/** Work in flight when an instrumentation is taken back: its spans are still to end, so what ends them goes only with the last. */
export class InFlight {
  #count = 0;
  #stopEnding: Off | undefined;

  /** `work` stands for it where all instrumentations hear of its end: one that others have taken the place of ends what it began itself, and nothing else. */
  begun(work?: object): void {
    this.#count++;
    if (work !== undefined) (work as Work)[OWNER] = this;
  }

  has(work: object): boolean {
    return (work as Work)[OWNER] === this;
  }

  ended(work?: object): void {
    if (work !== undefined) (work as Work)[OWNER] = undefined;
    this.#count--;
    this.#stopWhenDone();
  }

  /** `stopBeginning` at once, and `stopEnding` as soon as nothing is in flight. */
  off(stopBeginning: Off, stopEnding: Off): Off {
    return () => {
      stopBeginning();
      this.#stopEnding = stopEnding;
      this.#stopWhenDone();
    };
  }

  #stopWhenDone(): void {
    if (this.#count === 0) this.#stopEnding?.();
  }
}

/** What `hook`, which a program gave, answers, as true or false; false without one and when it throws. Asked at each call: it makes no list of arguments. */
export const callPredicate = <A>(hook: ((about: A) => boolean) | undefined, about: A): boolean => {
  if (hook === undefined) return false;
  try {
    return hook(about) === true;
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
