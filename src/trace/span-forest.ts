// Arranges spans by parentage. Works on any input: missing parents, equal ids, even circles; every span appears once.
// Nothing here may recurse: a tree can be as deep as it has spans.
import type { SpanRecord } from './record.js';

export interface SpanNode {
  readonly span: SpanRecord;
  /** Sorted by start. */
  readonly children: SpanNode[];
  /** True when the span names a parent of this process that is not among the spans. */
  readonly isOrphan: boolean;
}

type Draft = { span: SpanRecord; children: Draft[]; isOrphan: boolean };

const byStart = (a: Draft, b: Draft): number =>
  a.span.startSec - b.span.startSec || a.span.startNano - b.span.startNano;

const markReachable = (from: Draft, seen: Set<Draft>): void => {
  const stack = [from];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (seen.has(node)) continue;
    seen.add(node);
    for (const child of node.children) stack.push(child);
  }
};

/** Spans that hang on each other in a circle have no root: cut the circle at its first span and show that as an orphan. */
const cutCircles = (drafts: readonly Draft[], parents: ReadonlyMap<Draft, Draft>, roots: Draft[]): void => {
  const seen = new Set<Draft>();
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

/** The roots, each with its descendants; roots and siblings sorted by start. */
export const spanForest = (spans: readonly SpanRecord[]): SpanNode[] => {
  const byId = new Map<string, Draft>();
  const drafts = spans.map((span): Draft => ({ span, children: [], isOrphan: false }));
  for (const draft of drafts) {
    const id = draft.span.traceId + draft.span.spanId;
    if (!byId.has(id)) byId.set(id, draft);
  }
  const roots: Draft[] = [];
  const parents = new Map<Draft, Draft>();
  for (const draft of drafts) {
    const { span } = draft;
    const parentId = span.parentSpanId;
    const parent = parentId === '' ? undefined : byId.get(span.traceId + parentId);
    if (parent !== undefined && parent !== draft) {
      parent.children.push(draft);
      parents.set(draft, parent);
      continue;
    }
    draft.isOrphan = parentId !== '' && !span.hasRemoteParent;
    roots.push(draft);
  }
  cutCircles(drafts, parents, roots);
  for (const draft of drafts) draft.children.sort(byStart);
  return roots.sort(byStart);
};

/** Calls `visit` for every node, parents first, in the order of a printed tree; stops early when it returns false. */
export const walkForest = (
  roots: readonly SpanNode[],
  visit: (node: SpanNode, depth: number, isLast: boolean) => boolean | undefined,
): void => {
  const stack: { nodes: readonly SpanNode[]; next: number }[] = [{ nodes: roots, next: 0 }];
  while (stack.length > 0) {
    const top = stack[stack.length - 1] as { nodes: readonly SpanNode[]; next: number };
    const node = top.nodes[top.next++];
    if (node === undefined) {
      stack.pop();
      continue;
    }
    if (visit(node, stack.length - 1, top.next === top.nodes.length) === false) return;
    stack.push({ nodes: node.children, next: 0 });
  }
};
