// Spans by parentage: the one builder of trees. Works on any input (missing parents, equal ids, even circles): every span appears once.
// Nothing here may recurse: a tree can be as deep as it has spans.
//
// Two sets of traces as one tree: spans of the same name under the same names are one node, with what each side has of it. Nothing here may
// recurse: a tree can be as deep as it has spans.
import { getOrMake } from '../base/maps/maps.js';
import type { ArchivedSpan } from './archived-span.js';
import type { FinishedSpan } from './finished-span.js';
import { eachOnce } from './shared-ids.js';

/** A span and what it called. */
export interface SpanNode<T> {
  readonly span: T;
  /** By start. */
  readonly children: readonly SpanNode<T>[];
  /** True when the parent that the span names is not above it: it is absent, or hangs below the span in a circle. */
  readonly isOrphan: boolean;
}

/** A span and what it called, out of an archive. */
export interface TraceNode {
  readonly span: ArchivedSpan;
  /** By start. */
  readonly children: readonly TraceNode[];
}

interface Draft<T> {
  readonly span: T;
  readonly children: Draft<T>[];
  isOrphan: boolean;
}

/** What a tree must know of a span, whatever model it is of. */
type Kin = Pick<FinishedSpan, 'traceId' | 'spanId' | 'parentSpanId'>;

const markReachable = <T>(from: Draft<T>, seen: Set<Draft<T>>): void => {
  const stack = [from];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const child of node.children) stack.push(child);
  }
};

/** Spans that hang on each other in a circle have no root: the circle is cut at its first span, which becomes an orphan. */
const cutCircles = <T>(
  drafts: readonly Draft<T>[],
  parents: ReadonlyMap<Draft<T>, Draft<T>>,
  roots: Draft<T>[],
): void => {
  const seen = new Set<Draft<T>>();
  for (const root of roots) markReachable(root, seen);
  if (seen.size === drafts.length) return;
  for (const draft of drafts) {
    if (seen.has(draft)) continue;
    const siblings = parents.get(draft)?.children;
    siblings?.splice(siblings.indexOf(draft), 1);
    draft.isOrphan = true;
    roots.push(draft);
    markReachable(draft, seen);
  }
};

/**
 * Spans, sorted by start, by parentage. The roots: those without a parent among the spans in their order, then the first of each circle.
 */
export const plant = <T extends Kin>(spans: readonly T[]): Draft<T>[] => {
  const drafts = spans.map((span): Draft<T> => ({ span, children: [], isOrphan: false }));
  const byTrace = new Map<string, Map<string, Draft<T>>>();
  for (const draft of drafts) {
    const { traceId, spanId } = draft.span;
    const byId = getOrMake(byTrace, traceId, () => new Map<string, Draft<T>>());
    if (!byId.has(spanId)) byId.set(spanId, draft);
  }
  const roots: Draft<T>[] = [];
  const parents = new Map<Draft<T>, Draft<T>>();
  for (const draft of drafts) {
    const { traceId, parentSpanId } = draft.span;
    const above = parentSpanId === '' ? undefined : byTrace.get(traceId)?.get(parentSpanId);
    if (above !== undefined && above !== draft) {
      above.children.push(draft);
      parents.set(draft, above);
    } else {
      draft.isOrphan = parentSpanId !== '';
      roots.push(draft);
    }
  }
  cutCircles(drafts, parents, roots);
  return roots;
};

type Started = Pick<FinishedSpan, 'startSec' | 'startNano'>;

const byStart = (a: Started, b: Started): number => a.startSec - b.startSec || a.startNano - b.startNano;

/** Spans of any traces as trees, by start. */
export const spanForest = <T extends Kin & Started>(spans: readonly T[]): readonly SpanNode<T>[] =>
  plant(spans.toSorted(byStart)).sort((a, b) => byStart(a.span, b.span));

const byStartAndId = (a: ArchivedSpan, b: ArchivedSpan): number =>
  a.startUnixNs < b.startUnixNs ? -1 : a.startUnixNs > b.startUnixNs ? 1 : a.spanId < b.spanId ? -1 : 1;

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

/** Calls `visit` for every node, parents first, in the order of a printed tree; stops when it returns false. */
export const walkTree = <N extends { readonly children: readonly N[] }>(
  roots: readonly N[],
  visit: (node: N, depth: number, isLast: boolean, parent: N | undefined) => unknown,
): void => {
  const stack: { readonly nodes: readonly N[]; readonly parent?: N; next: number }[] = [{ nodes: roots, next: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1];
    const node = top.nodes[top.next++];
    if (node === undefined) {
      stack.pop();
      continue;
    }
    if (visit(node, stack.length - 1, top.next === top.nodes.length, top.parent) === false) return;
    if (node.children.length > 0) stack.push({ nodes: node.children, parent: node, next: 0 });
  }
};

/** Of all traces of a side together. */
export interface MergedSide {
  count: number;
  ns: bigint;
}

/** Spans of one name under the same names. */
export interface MergedNode {
  readonly name: string;
  readonly left: MergedSide;
  readonly right: MergedSide;
  /** By name, in the order in which they first began. */
  readonly children: Map<string, MergedNode>;
}

const nodeNamed = (name: string): MergedNode => ({
  name,
  left: { count: 0, ns: 0n },
  right: { count: 0, ns: 0n },
  children: new Map(),
});

type Place = readonly [siblings: Map<string, MergedNode>, nodes: readonly SpanNode<ArchivedSpan>[]];

const addTrace = (roots: Map<string, MergedNode>, spans: readonly ArchivedSpan[], side: 'left' | 'right'): void => {
  const stack: Place[] = [[roots, plant(spans)]];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const [siblings, nodes] = place;
    for (const { span, children } of nodes) {
      const node = getOrMake(siblings, span.name, () => nodeNamed(span.name));
      node[side].count++;
      node[side].ns += span.endUnixNs - span.startUnixNs;
      if (children.length > 0) stack.push([node.children, children]);
    }
  }
};

/** The roots, by name. */
export const mergedTree = (
  left: Iterable<readonly ArchivedSpan[]>,
  right: Iterable<readonly ArchivedSpan[]>,
): Map<string, MergedNode> => {
  const roots = new Map<string, MergedNode>();
  for (const spans of left) addTrace(roots, spans, 'left');
  for (const spans of right) addTrace(roots, spans, 'right');
  return roots;
};
