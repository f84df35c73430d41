// A span for each call of a function of a library that publishes nothing: as traced-channel.ts makes them of what is announced. What is called gives what it
// gave: its own result, or a promise that settles as its own. A function that was taken out of the library while it was traced, as `import` does, is
// traced whenever its library is: so what decides is asked at each call.

import { isThenable } from '../base/calls/timers.js';
import { queueStore, type SpanQueue } from '../local-span/local-span.js';
import { Counter, count } from '../rows/counters.js';
import type { Span } from '../span/span.js';
import { queueFor } from './client-span.js';
import { endingWith } from './ending.js';
import { reasonOf } from './failure.js';
import type { Caller } from './in-context.js';
import type { Begun } from './measures.js';
import type { Method } from './replace-method.js';
import type { Outcome } from './traced-channel.js';

/** What is announced of calls whose messages are `M`. */
export interface CallWork<M, B extends Begun = Span> {
  /** Undefined: neither traced nor measured. */
  begin(message: M): B | undefined;
  /** Called once, before the span ends. */
  finish(begun: B, outcome: Outcome): void;
}

/** Ends a piece of work that is over. */
export const endWork = <M, B extends Begun>(work: CallWork<M, B>, begun: B, outcome: Outcome): void => {
  try {
    work.finish(begun, outcome);
  } finally {
    begun.endForGood();
  }
};

interface Open<M> {
  readonly work: CallWork<M>;
  readonly span: Span;
  readonly queue: SpanQueue;
}

/** `method`, whose calls are traced while `workNow` gives something; `messageOf` makes the message of one. */
export const tracedCall = <M>(
  method: Method,
  workNow: () => CallWork<M> | undefined,
  messageOf: (args: readonly unknown[]) => M,
): Method => {
  // Not by `quiet`, which makes lists of arguments for each call.
  const begin = (work: CallWork<M>, args: readonly unknown[], caller: Caller): Open<M> | undefined => {
    try {
      const span = work.begin(messageOf(args));
      return span === undefined ? undefined : { work, span, queue: queueFor(span, caller) };
    } catch {
      count(Counter.instrumentationErrors);
      return undefined;
    }
  };
  const end = ({ work, span, queue }: Open<M>, outcome: Outcome): void => {
    try {
      queue.close();
      endWork(work, span, outcome);
    } catch {
      count(Counter.instrumentationErrors);
    }
  };
  // In one frame, and not by `run`, as in in-context.ts.
  return function (this: unknown, ...args: unknown[]): unknown {
    const work = workNow();
    if (work === undefined) return Reflect.apply(method, this, args);
    const caller = queueStore.getStore();
    const open = begin(work, args, caller);
    if (open === undefined) return Reflect.apply(method, this, args);
    const { frame } = queueStore;
    queueStore.enter(open.queue);
    try {
      const result = Reflect.apply(method, this, args);
      // Where the work begins when it is waited for it begins under its span.
      if (isThenable(result))
        return endingWith(result, (error, value) => end(open, error === undefined ? { result: value } : { error }));
      end(open, { result });
      return result;
    } catch (error) {
      end(open, { error: reasonOf(error) });
      throw error;
    } finally {
      queueStore.enterAgain(frame, caller as SpanQueue);
    }
  };
};
