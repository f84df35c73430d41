// Traces that the page looks at, read once: what is asked of their spans afterwards is answered out of memory. Bounded by spans; the trace itself,
// when it is asked for again, is always read anew, for it may have grown.
import { type Archive, processOf } from '@spanline/archive';
import { archiveSources, HttpError } from '@spanline/archive/internal';
import type { ArchivedSpan } from 'spanline/internal/record';
import { BreakdownIndex, type TimelineRow } from 'spanline/internal/timeline';
import { type DrawnTrace, traceColumns } from './trace-columns.js';

/** Spans kept of all traces together. */
const MAX_SPANS = 300_000;

/** A trace, and what the event loops of its processes did meanwhile. */
export interface ReadTrace {
  readonly spans: readonly ArchivedSpan[];
  readonly drawn: DrawnTrace;
  /** Of its processes that kept one; a process as `processOf` names it. */
  readonly timelines: readonly { readonly process: string; readonly rows: readonly TimelineRow[] }[];
  /** What divides the time of a span; undefined where its process kept no timeline. */
  readonly indexOf: (span: ArchivedSpan) => BreakdownIndex | undefined;
}

/** The spans of a trace. `HttpError` 404 where there is none of it. */
export const spansOfTrace = async (archive: Archive, id: string, signal: AbortSignal): Promise<ArchivedSpan[]> => {
  const spans = await archive.trace(id, { signal });
  if (spans.length === 0) throw new HttpError(404, `there is no trace ${id}: it may be older than what is kept`);
  return spans;
};

const loopsOf = async (archive: Archive, { order, startUnixNs, durationUs }: DrawnTrace, signal: AbortSignal) => {
  // Spans of one process share one resource.
  const own = new Set([...new Set(order.map(({ resource }) => resource))].map(processOf));
  const fromUs = Number(startUnixNs) / 1000;
  const window = { fromUs, toUs: fromUs + durationUs };
  const sources = (await archiveSources(archive, window, { signal })).filter(({ process }) => own.has(process));
  const indexes = new Map(
    sources.map((one) => [one.process, new BreakdownIndex(one.spans, one.timeline, one.covered)] as const),
  );
  return {
    timelines: sources.map(({ process, timeline }) => ({ process, rows: timeline })),
    indexOf: (span: ArchivedSpan) => indexes.get(processOf(span.resource)),
  };
};

/** Traces of any archive. */
export class TraceReads {
  /** By archive and trace, the one that was asked for last behind the others. */
  readonly #kept = new Map<string, ReadTrace>();
  readonly #maxSpans: number;
  #spans = 0;

  /** The trace that was asked for last is kept however many spans it has. */
  constructor(maxSpans = MAX_SPANS) {
    this.#maxSpans = maxSpans;
  }

  /** The trace as the archive has it now. */
  async fresh(archive: Archive, id: string, signal: AbortSignal): Promise<ReadTrace> {
    const spans = await spansOfTrace(archive, id, signal);
    const drawn = traceColumns(spans);
    const read = { spans, drawn, ...(await loopsOf(archive, drawn, signal)) };
    this.#keep(`${archive.directory} ${id}`, read);
    return read;
  }

  /** The trace as it was read last, or now. */
  async known(archive: Archive, id: string, signal: AbortSignal): Promise<ReadTrace> {
    const key = `${archive.directory} ${id}`;
    const kept = this.#kept.get(key);
    if (kept === undefined) return this.fresh(archive, id, signal);
    this.#keep(key, kept);
    return kept;
  }

  #keep(key: string, read: ReadTrace): void {
    this.#forget(key);
    this.#kept.set(key, read);
    this.#spans += read.spans.length;
    for (const old of this.#kept.keys()) {
      if (this.#spans <= this.#maxSpans || old === key) return;
      this.#forget(old);
    }
  }

  #forget(key: string): void {
    this.#spans -= this.#kept.get(key)?.spans.length ?? 0;
    this.#kept.delete(key);
  }
}
