// Spans by parentage: the one builder of trees. Works on any input (missing parents, equal ids, even circles): every span appears once.
// Nothing here may recurse: a tree can be as deep as it has spans.
import { getOrMake } from '../base/maps/maps.js';
import type { FinishedSpan } from './finished-span.js';

/** A span and what it called. */
export interface SpanNode<T> {
  readonly span: T;
  /** By start. */
  readonly children: readonly SpanNode<T>[];
  /** True when the parent that the span names is not above it: it is absent, or hangs below the span in a circle. */
  readonly isOrphan: boolean;
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
