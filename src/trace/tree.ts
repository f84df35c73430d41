// Traces as trees: each span with its children. Whatever the spans are, every one comes exactly once, also where parents are absent or go
// round in a circle.
import type { ArchivedSpan } from './archived-span.js';

/** A span and what it called. */
export interface TraceNode {
  readonly span: ArchivedSpan;
  /** By start. */
  readonly children: readonly TraceNode[];
}

const byStart = (a: ArchivedSpan, b: ArchivedSpan): number =>
  a.startUnixNs < b.startUnixNs ? -1 : a.startUnixNs > b.startUnixNs ? 1 : a.spanId < b.spanId ? -1 : 1;

/**
 * The spans of one trace as trees: the root's first, then those of spans whose parent is absent, by start. Use it on what
 * `Archive.trace` gives. Spans that are each other's parents make a tree that begins with the earliest of them.
 *
 * @example
 * ```ts
 * import { traceTrees } from 'spanline/archive';
 * console.assert(traceTrees([]).length === 0);
 * ```
 */
export const traceTrees = (spans: readonly ArchivedSpan[]): readonly TraceNode[] => {
  const sorted = [...new Map(spans.map((span) => [span.spanId, span])).values()].sort(byStart);
  const ids = new Set(sorted.map(({ spanId }) => spanId));
  const childrenOf = new Map<string, ArchivedSpan[]>();
  for (const span of sorted) {
    const others = childrenOf.get(span.parentSpanId);
    if (others === undefined) childrenOf.set(span.parentSpanId, [span]);
    else others.push(span);
  }
  const placed = new Set<string>();
  // Not by recursion: a trace may be deeper than the stack.
  const plant = (span: ArchivedSpan): MutableNode => {
    const root: MutableNode = { span, children: [] };
    placed.add(span.spanId);
    for (let level = [root]; level.length > 0; ) level = level.flatMap((node) => grow(node));
    return root;
  };
  const grow = (node: MutableNode): MutableNode[] => {
    for (const span of childrenOf.get(node.span.spanId) ?? []) {
      if (placed.has(span.spanId)) continue;
      placed.add(span.spanId);
      node.children.push({ span, children: [] });
    }
    return node.children;
  };
  return [
    ...sorted.filter(({ parentSpanId }) => parentSpanId === '').map(plant),
    ...sorted.filter(({ parentSpanId }) => parentSpanId !== '' && !ids.has(parentSpanId)).map(plant),
    // What is left goes round in circles.
    ...sorted.flatMap((span) => (placed.has(span.spanId) ? [] : [plant(span)])),
  ];
};

interface MutableNode {
  readonly span: ArchivedSpan;
  readonly children: MutableNode[];
}

/** The spans of one trace, each once (the last of equal ids), the root first and every span before its children. */
export const rootFirst = (spans: readonly ArchivedSpan[]): ArchivedSpan[] => {
  const ordered: ArchivedSpan[] = [];
  const waiting: TraceNode[] = [...traceTrees(spans)].reverse();
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    ordered.push(node.span);
    for (let i = node.children.length - 1; i >= 0; i--) waiting.push(node.children[i]);
  }
  return ordered;
};
