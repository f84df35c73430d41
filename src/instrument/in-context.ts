// What a library calls and emits on behalf of a caller, in the context of that caller: a connection, a pool or a queue that callers share calls in the
// context of its opener or releaser. Calls and events themselves stay as they are, and so do other contexts of the program.
import type { EventEmitter } from 'node:events';
import { queueStore, type SpanQueue } from '../local-span/local-span.js';
import type { Span } from '../span/span.js';

/** What is current, for a call back later; undefined outside any span. */
export type Caller = SpanQueue | undefined;

// biome-ignore lint/suspicious/noExplicitAny: functions of others, with what they are called with.
type AnyFunction = (this: any, ...args: any[]) => any;

/** The caller of the code that runs now. */
export const callerHere = (): Caller => queueStore.getStore();

/** A caller that is kept on what it asked for: null for one outside any span, undefined where none is kept. */
export const callerKept = (kept: SpanQueue | null | undefined, here: Caller): Caller =>
  kept === undefined ? here : (kept ?? undefined);

/**
 * `fn`, which runs in the context that `contextOf` gives for its receiver, the context of the call and its arguments. In one frame, and not by `run`,
 * whose frames would stand in every stack below: error pages print ten.
 */
export const runningIn = <T, A extends unknown[], R>(
  fn: (this: T, ...args: A) => R,
  contextOf: (self: T, here: Caller, args: A) => Caller,
): ((this: T, ...args: A) => R) =>
  function (this: T, ...args: A): R {
    const outer = queueStore.getStore();
    const context = contextOf(this, outer, args);
    if (context === outer) return Reflect.apply(fn, this, args) as R;
    const { frame } = queueStore;
    queueStore.enter(context as SpanQueue);
    try {
      return Reflect.apply(fn, this, args) as R;
    } finally {
      queueStore.enterAgain(frame, outer as SpanQueue);
    }
  };

/**
 * `fn`, which runs in the context of `caller` wherever it is called; what is not a function stays as it is. `first` gets the first two arguments before
 * that: a span ends by it, which is none of the time that a callback takes, whatever that throws. A {@link runningIn} of its own: drivers get one or more for
 * each query.
 */
export const boundFor = <F>(caller: Caller, fn: F, first?: (error: unknown, result: unknown) => void): F =>
  typeof fn === 'function' ? (bound(caller, fn as AnyFunction, first) as F) : fn;

const bound = (caller: Caller, fn: AnyFunction, first?: (error: unknown, result: unknown) => void): AnyFunction =>
  function (this: unknown, ...args): unknown {
    const outer = queueStore.getStore();
    if (caller === outer) {
      first?.(args[0], args[1]);
      return Reflect.apply(fn, this, args);
    }
    const { frame } = queueStore;
    queueStore.enter(caller as SpanQueue);
    try {
      first?.(args[0], args[1]);
      return Reflect.apply(fn, this, args);
    } finally {
      queueStore.enterAgain(frame, outer as SpanQueue);
    }
  };

/** `fn`, whose callbacks run in the context in which it is called. */
export const callingBack = <T, R>(fn: (this: T, ...args: unknown[]) => R): ((this: T, ...args: unknown[]) => R) =>
  function (this: T, ...args) {
    const caller = callerHere();
    for (let i = 0; i < args.length; i++) args[i] = boundFor(caller, args[i]);
    return Reflect.apply(fn, this, args) as R;
  };

/** Calls listeners of `emitter` in the context of `caller`; `heard` gets each event before them. */
export const emitFor = (
  caller: Caller,
  emitter: EventEmitter,
  heard?: (name: string | symbol, value: unknown) => void,
): void => {
  emitter.emit = runningIn(emitter.emit, (_self, _here, args) => {
    heard?.(args[0], args[1]);
    return caller;
  });
};

/** Whether `here` is of the trace of `queue`. */
export const isWithin = (here: Caller, { mount }: SpanQueue): boolean => {
  if (here === undefined || !here.mount.isSpan) return false;
  const { trace } = mount as Span;
  return here.mount === mount || (trace !== null && (here.mount as Span).trace === trace);
};

/** Calls listeners of `emitter`, which is read for a piece of work, under `queue`, but for those that are called in its trace already. */
export const emitUnder = (queue: SpanQueue, emitter: EventEmitter): void => {
  emitter.emit = runningIn(emitter.emit, (_self, here) => (isWithin(here, queue) ? here : queue));
};
