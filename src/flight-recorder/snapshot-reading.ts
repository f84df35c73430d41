// A snapshot while it is read to be written: in slices of time, so that the service whose snapshot it is goes on, and until a signal ends it. What
// only the snapshot contains is in properties of its spans: an open span is marked, the first of a trace that is recorded here only is marked too,
// and the resource has the reason of the snapshot. Every writer must go through here, or two files of one snapshot disagree.

import { Slices } from '../base/calls/timers.js';
import { throwIfAborted } from '../base/errors.js';
import type { Resource } from '../collector/reporter.js';
import { OWN_SCOPE, ownResource } from '../formats/library.js';
import type { ArchivedSpan } from '../record/archived-span.js';
import { ObjectView, toArchived } from '../record/object-view.js';
import type { SpanRecord } from '../record/record.js';
import type { Properties } from '../rows/property.js';
import { FlightError, type Snapshot, type SnapshotSpan, type SnapshotTrace } from './snapshot-types.js';

/** On a span that had not ended when the snapshot was taken. */
export const OPEN_KEY = 'spanline.open';
/** On the first span of a trace that is recorded here only: false. */
const SAMPLED_KEY = 'spanline.sampled';
const REASON_KEY = 'spanline.snapshot.reason';
const TEXT_KEY = 'spanline.snapshot.text';

/** W3C "sampled" among the flags of a span. */
const SAMPLED_FLAG = 1;

/** The owner of the spans, and the reason of the snapshot. */
export const shownResource = ({ resource: { serviceName, attributes }, reason }: Snapshot): Resource => ({
  serviceName,
  attributes: { ...attributes, [REASON_KEY]: reason.kind, [TEXT_KEY]: reason.text },
});

/** The i-th span of a trace. */
export const shownRecord = ({ spans, isSampled }: SnapshotTrace, i: number): SpanRecord => {
  const { record, isOpen }: SnapshotSpan = spans[i];
  if (!isOpen && (isSampled || i > 0)) return record;
  const more: Record<string, boolean> = {};
  if (isOpen) more[OPEN_KEY] = true;
  if (!isSampled && i === 0) more[SAMPLED_KEY] = false;
  return record.withProperties(more satisfies Properties);
};

/** What {@link shownSpan} looks through. */
export const shownView = (snapshot: Snapshot): ObjectView =>
  new ObjectView(ownResource(shownResource(snapshot)), OWN_SCOPE);

/** The i-th span of a trace as every format of others takes it; `view` is that of the whole snapshot. */
export const shownSpan = (trace: SnapshotTrace, i: number, view: ObjectView): ArchivedSpan => {
  const span = toArchived(view.of(shownRecord(trace, i)));
  // Others got this flag, too.
  return trace.isSampled ? span : { ...span, flags: (span.flags ?? 0) & ~SAMPLED_FLAG };
};

/** A trace as every format of others takes it. */
interface ShownTrace {
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
