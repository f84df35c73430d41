// Spans of the databases' own work. Where nobody traces, this must cost one look at the current span and nothing else.

import { Span } from 'spanline';
import { beginUnder, queueStore, state } from 'spanline/internal/rows';

/** A child of the current span; undefined when nothing records here. */
export const childSpan = (name: string): Span | undefined => Span.startHere(name);

/** Begin `work` under `span`, when there is one. A promise is given back as it is: to follow it costs more than the rest, and is only of use for local spans. */
export const under = <T>(span: Span | undefined, work: () => T): T =>
  span === undefined ? work() : beginUnder(span, work);

/** Whether a CPU profile or the event-loop timeline asks under which span code runs. */
export const isWorkWatched = (): boolean => state.labelling !== undefined || state.queueSwitches !== undefined;

/** Run `work` with no current span: what it would start is not wanted. A no-op span would not do, for it leaves the current one. */
export const untraced = <T>(work: () => T): T => queueStore.run(undefined as never, work);

/** Mark `span`, when there is one that goes on, as failed. */
export const failSpan = (span: Span | undefined, error: unknown): void => {
  if (span?.isRecording !== true) return;
  span.recordException(error).setStatus('error', error instanceof Error ? error.message : String(error));
};

/** Milliseconds as a property: three digits behind the point. */
export const roundMs = (ms: number): number => Math.round(ms * 1000) / 1000;

/**
 * Run `work` in a span of its own; its failure is recorded and passed on. `figures` adds
 * properties when it is over, and must not throw. Gives the promise of `work` itself: an
 * async function around it costs two more promises and as many turns of the microtask queue, for whoever traces and whoever does not.
 */
export const inSpan = <T>(
  name: string,
  work: () => Promise<T>,
  figures?: (span: Span, result: T) => void,
): Promise<T> => {
  const span = childSpan(name);
  try {
    if (span === undefined) return work();
    const result = under(span, work);
    // Before whoever waits for the result.
    result.then(
      (value) => {
        figures?.(span, value);
        span.end();
      },
      (error) => {
        failSpan(span, error);
        span.end();
      },
    );
    return result;
  } catch (error) {
    failSpan(span, error);
    span?.end();
    return Promise.reject(error);
  }
};
