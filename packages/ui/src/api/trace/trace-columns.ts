// A trace as the page draws it: columns in the order of the tree, with self times and the critical path.
import { getOrMake } from 'spanline/internal/base';
import {
  type ArchivedResource,
  type ArchivedSpan,
  criticalPath,
  eachOnce,
  selfTime,
  treesOf,
  UNKNOWN_SERVICE,
  walkTree,
} from 'spanline/internal/record';
import type { TraceColumns } from './answers.js';

/** Spans drawn of one trace. */
export const MAX_SPANS = 100_000;

/** Texts by number, each once. */
class Numbered {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  of(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }
}

/** To the nanosecond: a difference of two times has more digits than either. */
const rounded = (us: number): number => Math.round(us * 1000) / 1000;

/** A trace as columns, and its spans in the same order. */
export interface DrawnTrace {
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

const TIMES = { startOf: ({ startUs }: TimedSpan) => startUs, endOf: ({ endUs }: TimedSpan) => endUs };

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
  const critical = criticalPath(roots, TIMES);
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
    columns.selfUs.push(rounded(selfTime(node, TIMES)));
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
