// Traces that the page looks at, as columns in the order of the tree, with self times and the critical path. Each is read once: what is asked of its
// spans afterwards is answered out of memory, which is bounded by spans. The trace itself, when it is asked for again, is always read anew, for it
// may have grown. Nothing here may recurse: a trace may be as deep as it has spans.
import { type Archive, processOf } from '@spanline/archive';
import { archiveSources, eachOnce, HttpError, treesOf, UNKNOWN_SERVICE } from '@spanline/archive/internal';
import { getOrMake } from 'spanline/internal/base';
import { type ArchivedResource, type ArchivedSpan, type SpanNode, walkTree } from 'spanline/internal/record';
import { BreakdownIndex, type TimelineRow } from 'spanline/internal/timeline';
import type { TraceColumns } from './answers.js';

/** Spans drawn of one trace. */
const MAX_SPANS = 100_000;

/** Texts by number, each once. */
class Numbered {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  of(text: string): number {
    return getOrMake(this.#numbers, text, () => this.texts.push(text) - 1);
  }
}

/** To the nanosecond: a difference of two times has more digits than either. */
const rounded = (us: number): number => Math.round(us * 1000) / 1000;

/** A trace as columns, and its spans in the same order. */
interface DrawnTrace {
  readonly order: readonly ArchivedSpan[];
  readonly spans: TraceColumns;
  readonly names: readonly string[];
  readonly services: readonly string[];
  readonly startUnixNs: bigint;
  readonly durationUs: number;
  readonly leftOut: number;
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** A span with its times as numbers, of which many more are compared and subtracted than there are spans. */
interface TimedSpan {
  readonly span: ArchivedSpan;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly startUs: number;
  readonly endUs: number;
}

/**
 * Nodes on the critical path, the root included: the spans that would have to be faster for the whole to be faster. Walks back from the end of each root:
 * whichever child ended last is what was waited for, then what ended last before that child began. Source of the method: Yang and Miller, Critical Path
 * Analysis (ICDCS 1988), on trees of spans.
 */
const criticalPath = (roots: readonly SpanNode<TimedSpan>[]): ReadonlySet<SpanNode<TimedSpan>> => {
  const found = new Set<SpanNode<TimedSpan>>();
  const stack = roots.map((node) => ({ node, until: node.span.endUs }));
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { node, until } = top;
    found.add(node);
    // A child that outlives its parent was not waited for to its end.
    let cursor = Math.min(until, node.span.endUs);
    for (const child of node.children.toSorted((a, b) => b.span.endUs - a.span.endUs)) {
      const { startUs, endUs } = child.span;
      if (startUs >= cursor || endUs > cursor) continue;
      stack.push({ node: child, until: cursor });
      cursor = startUs;
    }
  }
  return found;
};

/** The time of a span in which none of its children ran. Children that overlap count once, and only as far as they lie within the span. */
const selfTime = ({ span: { startUs, endUs }, children }: SpanNode<TimedSpan>): number => {
  let self = endUs - startUs;
  let covered = startUs;
  for (const { span } of children.toSorted((a, b) => a.span.startUs - b.span.startUs)) {
    const from = Math.max(covered, span.startUs);
    const to = Math.min(endUs, span.endUs);
    if (to <= from) continue;
    self -= to - from;
    covered = to;
  }
  return self;
};

const byStartAndId = (a: TimedSpan, b: TimedSpan): number => a.startUs - b.startUs || (a.spanId < b.spanId ? -1 : 1);

/** Lay out the spans of one trace, at least one. */
export const traceColumns = (spans: readonly ArchivedSpan[]): DrawnTrace => {
  const startUnixNs = spans.reduce((first, span) => min(first, span.startUnixNs), spans[0].startUnixNs);
  const endUnixNs = spans.reduce((last, span) => max(last, span.endUnixNs), spans[0].endUnixNs);
  const sinceStart = (ns: bigint): number => Number(ns - startUnixNs) / 1000;
  const timed = eachOnce(spans).map((span): TimedSpan => {
    const { traceId, spanId, parentSpanId } = span;
    const [startUs, endUs] = [sinceStart(span.startUnixNs), sinceStart(span.endUnixNs)];
    return { span, traceId, spanId, parentSpanId, startUs, endUs };
  });
  const roots = treesOf(timed, byStartAndId);
  const critical = criticalPath(roots);
  const [names, services] = [new Numbered(), new Numbered()];
  const serviceOf = new Map<ArchivedResource, number>();
  const places = new Map<unknown, number>();
  const order: ArchivedSpan[] = [];
  const columns = {
    ids: [] as string[],
    parent: [] as number[],
    name: [] as number[],
    service: [] as number[],
    startUs: [] as number[],
    durationUs: [] as number[],
    selfUs: [] as number[],
    isError: [] as (0 | 1)[],
    isCritical: [] as (0 | 1)[],
  };
  walkTree(roots, (node, _depth, _isLast, parent) => {
    if (order.length === MAX_SPANS) return false;
    const { span, startUs, endUs } = node.span;
    const place = order.push(span) - 1;
    if (node.children.length > 0) places.set(node, place);
    columns.ids.push(span.spanId);
    columns.parent.push(parent === undefined ? -1 : (places.get(parent) as number));
    columns.name.push(names.of(span.name));
    columns.service.push(
      getOrMake(serviceOf, span.resource, ({ properties }) =>
        services.of(String(properties['service.name'] ?? UNKNOWN_SERVICE)),
      ),
    );
    columns.startUs.push(startUs);
    columns.durationUs.push(rounded(endUs - startUs));
    columns.selfUs.push(rounded(selfTime(node)));
    columns.isError.push(span.status.code === 'error' ? 1 : 0);
    columns.isCritical.push(critical.has(node) ? 1 : 0);
    return true;
  });
  return {
    order,
    spans: columns,
    names: names.texts,
    services: services.texts,
    startUnixNs,
    durationUs: sinceStart(endUnixNs),
    leftOut: spans.length - order.length,
  };
};

/** Spans kept of all traces together. */
const MAX_KEPT_SPANS = 300_000;

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
const spansOfTrace = async (archive: Archive, id: string, signal: AbortSignal): Promise<ArchivedSpan[]> => {
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
  constructor(maxSpans = MAX_KEPT_SPANS) {
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
