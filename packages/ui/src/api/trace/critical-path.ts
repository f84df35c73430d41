// The critical path of a trace: the spans that would have to be faster for the whole to be faster. Walks back from the end of each root: whichever
// child ended last is what was waited for, then what ended last before that child began. Nothing here may recurse.
//
// The time of a span in which none of its children was under way. Children that overlap count once, and only as far as they lie within the span.
import type { SpanNode } from 'spanline/internal/record';

/** What must be known of a span's time; any unit, one for all. */
export interface TimedNode<T> {
  readonly startOf: (span: T) => number;
  readonly endOf: (span: T) => number;
}

/** Nodes on the critical path, the root included. Source of the method: Yang and Miller, Critical Path Analysis (ICDCS 1988), on trees of spans. */
export const criticalPath = <T>(
  roots: readonly SpanNode<T>[],
  { startOf, endOf }: TimedNode<T>,
): ReadonlySet<SpanNode<T>> => {
  const found = new Set<SpanNode<T>>();
  const stack = roots.map((node) => ({ node, until: endOf(node.span) }));
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const { node, until } = top;
    found.add(node);
    // A child that outlives its parent was not waited for to its end.
    let cursor = Math.min(until, endOf(node.span));
    for (const child of node.children.toSorted((a, b) => endOf(b.span) - endOf(a.span))) {
      if (startOf(child.span) >= cursor || endOf(child.span) > cursor) continue;
      stack.push({ node: child, until: cursor });
      cursor = startOf(child.span);
    }
  }
  return found;
};

/** In the unit of the times. */
export const selfTime = <T>({ span, children }: SpanNode<T>, { startOf, endOf }: TimedNode<T>): number => {
  const [start, end] = [startOf(span), endOf(span)];
  if (children.length === 0) return end - start;
  let self = end - start;
  let covered = start;
  for (const child of children.toSorted((a, b) => startOf(a.span) - startOf(b.span))) {
    const from = Math.max(covered, startOf(child.span));
    const to = Math.min(end, endOf(child.span));
    if (to <= from) continue;
    self -= to - from;
    covered = to;
  }
  return self;
};
