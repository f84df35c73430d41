// The time of a span in which none of its children was under way. Children that overlap count once, and only as far as they lie within the span.
import type { TimedNode } from './critical-path.js';
import type { SpanNode } from './tree.js';

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
