// Hands the traces of a snapshot to a reporter, as the collector would. A batch is bounded and the next one waits for it, so that a snapshot
// never lies in memory twice.
import type { ReportBatch, Reporter, Trace } from '../collector/reporter.js';
import type { SpanRecord } from '../record/record.js';
import { SnapshotReading, shownRecord, shownResource } from './snapshot-reading.js';
import type { Snapshot, SnapshotTrace } from './snapshot-types.js';

// Few enough to be left to the young generation of the heap.
const BATCH_SPANS = 2048;
/** Of a span without its texts: an estimate, which is all that the bound of a reporter needs. */
const SPAN_BYTES = 256;

/** Options of {@link reportSnapshot}. */
export interface ReportSnapshotOptions {
  /** Ends the work between batches, and is the signal of each. */
  readonly signal?: AbortSignal;
}

/** What was handed over. */
export interface ReportedSnapshot {
  readonly traceCount: number;
  readonly spanCount: number;
  readonly batches: number;
}

/** Spans of one trace that go in one batch. */
class SnapshotPart implements Trace {
  readonly #trace: SnapshotTrace;
  readonly #from: number;
  readonly spanCount: number;
  #made: readonly SpanRecord[] | undefined;

  constructor(trace: SnapshotTrace, from: number, spanCount: number) {
    this.#trace = trace;
    this.#from = from;
    this.spanCount = spanCount;
  }

  get traceId(): string {
    return this.#trace.traceId;
  }

  get byteSize(): number {
    return this.spanCount * SPAN_BYTES;
  }

  get isContinuation(): boolean {
    return this.#from > 0;
  }

  spanAt(index: number): SpanRecord {
    return this.#made?.[index] ?? shownRecord(this.#trace, this.#from + index);
  }

  get spans(): readonly SpanRecord[] {
    this.#made ??= Array.from({ length: this.spanCount }, (_, i) => this.spanAt(i));
    return this.#made;
  }

  get root(): SpanRecord | undefined {
    if (this.#from > 0) return undefined;
    const first = this.spanAt(0);
    return first.parentSpanId === '' || first.hasRemoteParent ? first : undefined;
  }

  get durationNs(): number {
    return this.root?.durationNs ?? 0;
  }

  get hasError(): boolean {
    const { spans } = this.#trace;
    for (let i = this.#from; i < this.#from + this.spanCount; i++)
      if (spans[i].record.status.code === 'error') return true;
    return false;
  }
}

/** Batches of at most `BATCH_SPANS` spans; a trace that is longer is cut. */
const batchesOf = async function* (reading: SnapshotReading): AsyncGenerator<readonly SnapshotPart[]> {
  let parts: SnapshotPart[] = [];
  let left = BATCH_SPANS;
  for await (const trace of reading.traces()) {
    for (let from = 0; from < trace.spans.length; ) {
      const part = new SnapshotPart(trace, from, Math.min(left, trace.spans.length - from));
      parts.push(part);
      from += part.spanCount;
      left -= part.spanCount;
      if (left > 0) continue;
      yield parts;
      parts = [];
      left = BATCH_SPANS;
    }
  }
  if (parts.length > 0) yield parts;
};

/**
 * Hand the traces of a snapshot to a reporter: `OtlpReporter`, `ArchiveReporter`, one of your own. Batches of at most 2,048 spans go one after
 * another; a longer trace comes in several parts, which say `isContinuation`. Nothing is tried again: call it again with the same snapshot. Spans
 * have the properties, and the resource the attributes, that {@link writeSnapshot} gives them. A trace that was recorded here only is flagged as
 * sampled, so that no backend drops it, and has `spanline.sampled: false` on its first span: the parts of other processes may be missing.
 *
 * Rejects as the reporter does, or with `ERR_SPANLINE_FLIGHT_ABORTED` when the signal fires.
 *
 * @example
 * ```ts
 * import { configure, Span } from 'spanline';
 * import { MemoryReporter } from 'spanline/exporters/memory';
 * import { reportSnapshot, snapshot } from 'spanline/flight-recorder';
 *
 * configure({ flightRecorder: {} });
 * Span.root('GET /query').end();
 * const memory = new MemoryReporter();
 * await reportSnapshot(snapshot(), memory);
 * console.assert(memory.find('GET /query') !== undefined);
 * ```
 */
export const reportSnapshot = async (
  snapshot: Snapshot,
  reporter: Reporter,
  { signal = new AbortController().signal }: ReportSnapshotOptions = {},
): Promise<ReportedSnapshot> => {
  const reading = new SnapshotReading(snapshot, signal);
  const resource = shownResource(snapshot);
  let batches = 0;
  for await (const traces of batchesOf(reading)) {
    const spanCount = traces.reduce((sum, part) => sum + part.spanCount, 0);
    await reporter.report({ traces, spanCount, resource, signal } satisfies ReportBatch);
    batches++;
    reading.throwIfAborted();
  }
  await reporter.flush?.();
  return { traceCount: reading.traceCount, spanCount: reading.spanCount, batches };
};
