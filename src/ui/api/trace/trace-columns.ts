// A trace as the page draws it: columns in the order of the tree, with self times and the critical path.
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { criticalPath } from '../../../trace/critical-path.js';
import { selfTime } from '../../../trace/self-time.js';
import { UNKNOWN_SERVICE } from '../../../trace/trace-facts.js';
import { type SpanNode, traceTrees, walkTree } from '../../../trace/tree.js';
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

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** Lay out the spans of one trace, at least one. */
export const traceColumns = (spans: readonly ArchivedSpan[]): DrawnTrace => {
  const startUnixNs = spans.reduce((first, span) => least(first, span.startUnixNs), spans[0].startUnixNs);
  const endUnixNs = spans.reduce((last, span) => most(last, span.endUnixNs), spans[0].endUnixNs);
  const sinceStart = (ns: bigint): number => Number(ns - startUnixNs) / 1000;
  const times = {
    startOf: (span: ArchivedSpan) => sinceStart(span.startUnixNs),
    endOf: (span: ArchivedSpan) => sinceStart(span.endUnixNs),
  };
  const roots = traceTrees(spans);
  const critical = criticalPath(roots as readonly SpanNode<ArchivedSpan>[], times);
  const [names, services] = [new Numbered(), new Numbered()];
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
  walkTree(roots as readonly SpanNode<ArchivedSpan>[], (node, _depth, _isLast, parent) => {
    if (order.length === MAX_SPANS) return false;
    const { span } = node;
    places.set(node, order.push(span) - 1);
    columns.ids.push(span.spanId);
    columns.parent.push(parent === undefined ? -1 : (places.get(parent) as number));
    columns.name.push(names.of(span.name));
    columns.service.push(services.of(String(span.resource.properties['service.name'] ?? UNKNOWN_SERVICE)));
    columns.startUs.push(times.startOf(span));
    columns.durationUs.push(Number(span.endUnixNs - span.startUnixNs) / 1000);
    columns.selfUs.push(selfTime(node, times));
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
