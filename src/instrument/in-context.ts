// What a library calls and emits on behalf of a caller, in the context of that caller: a connection, a pool or a queue that callers share calls in the
// context of whoever opened or released it. Calls and events themselves stay as they are, and so do other contexts of the program.
import type { EventEmitter } from 'node:events';
import { lineStore } from '../local-span/line-store.js';
import type { SpanLine } from '../local-span/span-line.js';
import type { Span } from '../span/span.js';

/** What is current, for a call back later; undefined outside any span. */
export type Caller = SpanLine | undefined;

// biome-ignore lint/suspicious/noExplicitAny: functions of others, with what they are called with.
type AnyFunction = (this: any, ...args: any[]) => any;

/** The caller of the code that runs now. */
export const callerHere = (): Caller => lineStore.getStore();

/** Calls `fn` in the context of `caller`. */
export const callFor = (caller: Caller, fn: AnyFunction, self: unknown, args: unknown[]): unknown => {
  const outer = lineStore.getStore();
  if (outer === caller) return Reflect.apply(fn, self, args);
  // Not by `run`, whose frames would stand in every stack below: error pages print ten.
  lineStore.enter(caller as SpanLine);
  try {
    return Reflect.apply(fn, self, args);
  } finally {
    lineStore.enter(outer as SpanLine);
  }
};

/** `fn`, which runs in the context of `caller` whoever calls it; what is no function stays as it is. */
export const boundFor = <F>(caller: Caller, fn: F): F => {
  if (typeof fn !== 'function') return fn;
  return function (this: unknown, ...args: unknown[]): unknown {
    return callFor(caller, fn as AnyFunction, this, args);
  } as F;
};

/** Calls listeners of `emitter` in the context that `callerOf` gives for the one of the emission; `heard` gets to know of each event before them. */
const emitIn = (
  emitter: EventEmitter,
  callerOf: (here: Caller) => Caller,
  heard?: (name: string | symbol, value: unknown) => void,
): void => {
  const { emit } = emitter;
  // One frame, as in `callFor`.
  emitter.emit = function (this: EventEmitter, ...args: Parameters<EventEmitter['emit']>): boolean {
    heard?.(args[0], args[1]);
    const outer = lineStore.getStore();
    const caller = callerOf(outer);
    if (outer === caller) return Reflect.apply(emit, this, args);
    lineStore.enter(caller as SpanLine);
    try {
      return Reflect.apply(emit, this, args);
    } finally {
      lineStore.enter(outer as SpanLine);
    }
  };
};

/** Calls listeners of `emitter` in the context of `caller`; `heard` gets to know of each event before them. */
export const emitFor = (
  caller: Caller,
  emitter: EventEmitter,
  heard?: (name: string | symbol, value: unknown) => void,
): void => emitIn(emitter, () => caller, heard);

/** Whether `here` is of the trace of `line`. */
export const isWithin = (here: Caller, { mount }: SpanLine): boolean => {
  if (here === undefined || !here.mount.isSpan) return false;
  const { trace } = mount as Span;
  return here.mount === mount || (trace !== null && (here.mount as Span).trace === trace);
};

/** Calls listeners of `emitter`, which is read for a piece of work, under `line`, but for those that are called in its trace already. */
export const emitUnder = (line: SpanLine, emitter: EventEmitter): void =>
  emitIn(emitter, (here) => (isWithin(here, line) ? here : line));
