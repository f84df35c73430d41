// What happens to queued traces when the process ends. Bounded: an exit is never held back longer than the collector's
// exitTimeoutMs, and a handler here must never throw.
import type { Collector } from './collector.js';
import { onSignal, type SignalWork } from './signal-work.js';

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
  process.on('beforeExit', () => {
    if (isFlushing || !collector.hasPending) return;
    isFlushing = true;
    void collector.flush({ timeoutMs: collector.exitTimeoutMs }).then((result) => {
      // Emitted again when the loop is empty again; what could not be delivered in time must not be tried for ever.
      isFlushing = !result.complete;
    });
  });
  process.on('exit', () => collector.reportSync());
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
