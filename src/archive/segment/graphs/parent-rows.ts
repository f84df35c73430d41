// The graph of parents as compressed rows: a span refers to its parent, or to nothing.
import type { ReferenceRows } from '../../../graph/nodes/reference-block.js';
import { ghostOf, NO_PARENT, type SpanOrder } from '../order/trace-order.js';

export const parentRows = ({ parents, spanCount }: SpanOrder): ReferenceRows => {
  const offsets = new Uint32Array(spanCount + 1);
  const targets = new Uint32Array(spanCount);
  let count = 0;
  for (let i = 0; i < spanCount; i++) {
    const parent = parents[i];
    if (parent !== NO_PARENT) targets[count++] = parent >= 0 ? parent : spanCount + ghostOf(parent);
    offsets[i + 1] = count;
  }
  return { offsets, targets: targets.subarray(0, count) };
};
