// The spans of one trace of an archive as trees: each span once, the halves of a call apart.
import { type ArchivedSpan, plant, type SpanNode, walkTree } from 'spanline/internal/record';
import { eachOnce } from './shared-ids.js';
import { compare } from './values/fields.js';

/** A span and what it called, out of an archive. */
export interface TraceNode {
  readonly span: ArchivedSpan;
  /** By start. */
  readonly children: readonly TraceNode[];
}

/** What a tree must know of a span. */
type Kin = Pick<ArchivedSpan, 'traceId' | 'spanId' | 'parentSpanId'>;

const byStartAndId = (a: ArchivedSpan, b: ArchivedSpan): number =>
  compare(a.startUnixNs, b.startUnixNs) || compare(a.spanId, b.spanId);

/** The spans of one trace, each once, as trees in the order of `compare`: the root's first, then those whose parent is absent. */
export const treesOf = <T extends Kin>(
  spans: readonly T[],
  compare: (a: T, b: T) => number,
): readonly SpanNode<T>[] => {
  const roots = plant(spans.toSorted(compare));
  return [...roots.filter(({ isOrphan }) => !isOrphan), ...roots.filter(({ isOrphan }) => isOrphan)];
};

/**
 * The spans of one trace as trees: the root's first, then those of spans whose parent is absent, by start. Use it on what
 * `Archive.trace` gives. Spans that are each other's parents make a tree that begins with the earliest of them.
 *
 * @example
 * ```ts
 * import { traceTrees } from '@spanline/archive';
 * console.assert(traceTrees([]).length === 0);
 * ```
 */
export const traceTrees = (spans: readonly ArchivedSpan[]): readonly TraceNode[] =>
  treesOf(eachOnce(spans), byStartAndId);

/** The spans of one trace, each once, the root first and every span before its children. */
export const rootFirst = (spans: readonly ArchivedSpan[]): ArchivedSpan[] => {
  const ordered: ArchivedSpan[] = [];
  walkTree(traceTrees(spans), ({ span }) => {
    ordered.push(span);
  });
  return ordered;
};
