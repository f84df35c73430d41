// What happens to queued traces when the process ends, and what the library does when a signal comes: one listener a signal, whoever in the library asks
// for it and in whichever copy, so that one place decides whether the process is to end, and when all of it is done. An exit is never held back longer than
// the collector's exitTimeoutMs, a handler here must never throw, and the end of the process must not be taken from the application.
import { timers } from '../base/calls/timers.js';
import { state } from '../context/process-state.js';
import type { Collector } from './collector.js';

/**
 * Work for a signal; must not throw. `isLast`: nobody else listens, and the process ends by the signal when this returns, or when the promise
 * that it gives is settled.
 */
export type SignalWork = (signal: NodeJS.Signals, isLast: boolean) => Promise<unknown> | undefined;

/** What is done at one signal. */
interface Listening {
  /** Work, and whether the process is to end by the signal, as it would if nobody listened. */
  readonly works: Map<SignalWork, boolean>;
  readonly listener: (signal: NodeJS.Signals, number?: unknown) => void;
}

const listening = state.signalWork as Map<NodeJS.Signals, Listening>;

const stop = (signal: NodeJS.Signals, { listener }: Listening): void => {
  process.off(signal, listener);
  listening.delete(signal);
};

const arrive = (signal: NodeJS.Signals, number: unknown, of: Listening): void => {
  const isOthers = process.listeners(signal).some((one) => one !== of.listener);
  // Node gives listeners the number of a signal that has come; `process.emit('SIGTERM')` of a program is none, and ends nothing. Without us nobody would
  // have heard it: what is done at the end is left for the end.
  const isHeard = isOthers || typeof number === 'number';
  const works = [...of.works].filter(([, ends]) => isHeard || !ends);
  const isLast = !isOthers && works.some(([, ends]) => ends);
  // From now on a second signal ends the process at once, however long the work takes.
  if (isLast) stop(signal, of);
  const waited = works.map(([work]) => work(signal, isLast)).filter((one) => one !== undefined);
  if (!isLast) return;
  const end = (): void => void process.kill(process.pid, signal);
  if (waited.length === 0) end();
  else void Promise.allSettled(waited).then(end);
};

/**
 * Do `work` at each `signal`; `ends`: the process is to end by it where the application does not listen. Gives what takes the work away
 * again.
 */
export const onSignal = (signal: NodeJS.Signals, work: SignalWork, ends: boolean): (() => void) => {
  let of = listening.get(signal);
  if (of === undefined) {
    const made: Listening = { works: new Map(), listener: (_, number) => arrive(signal, number, made) };
    of = made;
    // First in line, so that it sees the application's handlers also when they are called once.
    process.prependListener(signal, made.listener);
    listening.set(signal, made);
  }
  const { works } = of;
  works.set(work, ends);
  const own = of;
  return () => {
    works.delete(work);
    if (works.size === 0 && listening.get(signal) === own) stop(signal, own);
  };
};

const installed = new WeakSet<Collector>();

/**
 * Deliver at an orderly exit. When the event loop runs empty (`beforeExit`) everything is flushed within the bound. On
 * `process.exit` and after an uncaught exception only reporters with a synchronous way can still deliver (console, file, memory, archive,
 * OTLP and Jaeger over OTLP or UDP), within the same bound; others lose what was finished since their last report: one report interval and
 * what was being sent.
 */
export const flushOnExit = (collector: Collector): void => {
  if (installed.has(collector)) return;
  installed.add(collector);
  let isFlushing = false;
  /** Of the flush that has begun to end the process: what it has used up is not waited for again. */
  let deadline = Number.NEGATIVE_INFINITY;
  process.on('beforeExit', () => {
    if (isFlushing || !collector.hasPending) return;
    isFlushing = true;
    const timeoutMs = collector.exitTimeoutMs;
    deadline = timers.monotonicMs() + timeoutMs;
    void collector.flush({ timeoutMs }).then((result) => {
      // Emitted again when the loop is empty again; what could not be delivered in time must not be tried for ever.
      isFlushing = !result.complete;
      if (result.complete) deadline = Number.NEGATIVE_INFINITY;
    });
  });
  process.on('exit', () => {
    // Where the application went on all the same, its end has its whole time.
    const isLater = timers.monotonicMs() > deadline + collector.exitTimeoutMs / 2;
    collector.reportSync(isLater ? undefined : deadline);
  });
};

/**
 * Flush on these signals, then let the signal end the process as it would have: where the application has a handler of its
 * own, the end is left to that. Not installed by default, because a signal handler is the application's business: without
 * one SIGTERM loses what was finished since the last report. Gives a function that takes the handlers away again.
 *
 * @example
 * ```ts
 * flushOnSignals(defaultCollector(), ['SIGTERM', 'SIGINT']);
 * ```
 */
export const flushOnSignals = (
  collector: Collector,
  signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'],
): (() => void) => {
  const offs: (() => void)[] = [];
  const remove = (): void => {
    for (const off of offs.splice(0)) off();
  };
  const work: SignalWork = (_, isLast) => {
    remove();
    const timeoutMs = collector.exitTimeoutMs;
    return isLast ? collector.shutdown({ timeoutMs }) : collector.flush({ timeoutMs });
  };
  for (const signal of signals) offs.push(onSignal(signal, work, true));
  return remove;
};
