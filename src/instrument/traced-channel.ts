// A span for each piece of work that a library announces by a TracingChannel: from `start` to what comes last, `end` of synchronous work and
// `asyncEnd` of any other. The work runs under its span, and calls back in the context of its caller. What belongs to a
// piece of work is kept on its message under a symbol: Node writes its outcome there too, and a weak map costs more than the span.
import { tracingChannel } from 'node:diagnostics_channel';
import { queueStore, type SpanQueue } from '../local-span/local-span.js';
import { Counter, count } from '../rows/counters.js';
import type { Span } from '../span/span.js';
import { allOff, InFlight, type Off, onMessage } from './channel.js';
import { queueFor } from './client-span.js';
import { type Begun, spanOf } from './measures.js';

/** What a message of a TracingChannel holds at its end. */
export interface Outcome {
  readonly error?: unknown;
  readonly result?: unknown;
}

/** Ends what has come to `error`, but not what is answered: the end of that is announced. */
export type Lose<M> = (message: M, error: unknown) => void;

export interface ChannelWork<M extends object, B extends Begun = Span> {
  /** Undefined: neither traced nor measured. `lose` is for work of which its channel says no more. */
  begin(message: M, lose: Lose<M>): B | undefined;
  /** Called once, before the span ends. */
  finish(begun: B, message: M & Outcome): void;
}

interface Open<B> {
  readonly begun: B;
  /** Undefined where it has no span: then it runs where it was called. */
  readonly queue: SpanQueue | undefined;
  readonly caller: SpanQueue | undefined;
}

/** Traces the work of the channel `name`. */
export const traceChannel = <M extends object, B extends Begun = Span>(
  name: string,
  { begin, finish }: ChannelWork<M, B>,
): Off => {
  const open = Symbol('spanline.open');
  const workOf = (message: M | undefined): Open<B> | undefined => (message as { [open]?: Open<B> } | undefined)?.[open];
  const inFlight = new InFlight();
  const { start, asyncStart } = tracingChannel<unknown, M>(name);

  // Not by `quiet`, which makes a list of arguments for each message.
  const enter = (message: M): SpanQueue | undefined => {
    const caller = queueStore.getStore();
    try {
      const begun = begin(message, lose);
      if (begun === undefined) return caller;
      const span = spanOf(begun);
      const queue = span === undefined ? undefined : queueFor(span, caller);
      (message as { [open]?: Open<B> })[open] = { begun, queue, caller };
      inFlight.begun();
      return queue ?? caller;
    } catch {
      count(Counter.instrumentationErrors);
      return caller;
    }
  };

  // A callback may come with the answer to another.
  const leave = (message: M): SpanQueue | undefined => {
    const work = workOf(message);
    return work === undefined ? queueStore.getStore() : work.caller;
  };

  const end = (message: M, outcome: M & Outcome = message): void => {
    const work = workOf(message);
    if (work === undefined) return;
    (message as { [open]?: Open<B> | undefined })[open] = undefined;
    work.queue?.close();
    try {
      finish(work.begun, outcome);
    } finally {
      work.begun.endForGood();
      inFlight.ended();
    }
  };

  const lose: Lose<M> = (message, error) => {
    if (!('error' in message) && !('result' in message)) end(message, { ...message, error });
  };

  start.bindStore(queueStore, enter as (message: M) => SpanQueue);
  asyncStart.bindStore(queueStore, leave as (message: M) => SpanQueue);
  const stopBeginning = allOff([
    () => void start.unbindStore(queueStore),
    // A channel that nobody subscribes to announces nothing in some lines of Node.
    onMessage(`tracing:${name}:start`, () => {}),
  ]);
  const stopEnding = allOff([
    () => void asyncStart.unbindStore(queueStore),
    // Work that goes on has neither an error nor a result when its call returns.
    onMessage<M & Outcome>(`tracing:${name}:end`, (message) => {
      if ('error' in message || 'result' in message) end(message);
    }),
    onMessage<M>(`tracing:${name}:asyncEnd`, (message) => end(message)),
  ]);
  return inFlight.off(stopBeginning, stopEnding);
};
