// A snapshot while it is read to be written: in slices of time, so that the service whose snapshot it is goes on, and until a signal ends it.
import { Slices } from '../base/calls/slices.js';
import { throwIfAborted } from '../base/errors.js';
import type { ArchivedSpan } from '../record/archived-span.js';
import { FlightError } from './flight-error.js';
import { shownSpan, shownView } from './shown-spans.js';
import type { Snapshot, SnapshotTrace } from './snapshot-types.js';

/** A trace as every format of others takes it. */
export interface ShownTrace {
  readonly traceId: string;
  readonly spans: readonly ArchivedSpan[];
}

export class SnapshotReading {
  readonly snapshot: Snapshot;
  readonly #signal: AbortSignal | undefined;
  readonly #slices = new Slices();
  /** What the last walk over the traces has come by so far. */
  traceCount = 0;
  spanCount = 0;

  constructor(snapshot: Snapshot, signal: AbortSignal | undefined) {
    this.snapshot = snapshot;
    this.#signal = signal;
  }

  /** Count a step, and the bytes it wrote. True when it is time for {@link pause}. */
  isOver(bytes = 0): boolean {
    return this.#slices.isOver(bytes);
  }

  /** Let the event loop go round. Rejects with `ERR_SPANLINE_FLIGHT_ABORTED`. */
  async pause(): Promise<void> {
    await this.#slices.next();
    this.throwIfAborted();
  }

  throwIfAborted(): void {
    throwIfAborted(
      this.#signal,
      'writing the snapshot',
      (message, options) => new FlightError('ERR_SPANLINE_FLIGHT_ABORTED', message, options),
    );
  }

  async *traces(): AsyncGenerator<SnapshotTrace> {
    this.throwIfAborted();
    this.traceCount = 0;
    this.spanCount = 0;
    for (const trace of this.snapshot.steps?.() ?? this.snapshot.traces()) {
      if (trace !== undefined) {
        this.traceCount++;
        this.spanCount += trace.spans.length;
        yield trace;
      }
      if (this.#slices.isPast) await this.pause();
    }
  }

  /** The traces as archived spans, all of one resource. */
  async *shown(): AsyncGenerator<ShownTrace> {
    const view = shownView(this.snapshot);
    for await (const trace of this.traces()) {
      const spans: ArchivedSpan[] = [];
      for (let i = 0; i < trace.spans.length; i++) {
        spans.push(shownSpan(trace, i, view));
        if (this.isOver()) await this.pause();
      }
      yield { traceId: trace.traceId, spans };
    }
  }
}
