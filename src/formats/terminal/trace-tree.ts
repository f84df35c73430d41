// The spans of a trace by parentage, as a waterfall draws them: those that name a parent that is absent hang below a node that says so.
// Every span stands in it once, whatever the parents say.
import type { FinishedSpan } from '../../record/finished-span.js';
import { type SpanNode, spanForest } from '../../record/tree.js';

/** A span, or the place of a parent that is absent. */
export interface DrawnNode {
  /** Undefined: the parent of the children is not in the archive. */
  readonly span: FinishedSpan | undefined;
  readonly isOrphan: boolean;
  /** By start. */
  readonly children: readonly DrawnNode[];
}

const startOf = ({ span, children }: DrawnNode): bigint => (span ?? children[0].span)?.startUnixNs ?? 0n;

/** The roots, by start. */
export const traceTree = (spans: readonly FinishedSpan[]): DrawnNode[] => {
  const present = new Set(spans.map(({ spanId }) => spanId));
  const roots: DrawnNode[] = [];
  const absent = new Map<string, SpanNode<FinishedSpan>[]>();
  for (const tree of spanForest(spans)) {
    const { parentSpanId } = tree.span;
    const siblings = absent.get(parentSpanId);
    if (!tree.isOrphan || present.has(parentSpanId)) roots.push(tree);
    else if (siblings !== undefined) siblings.push(tree);
    else {
      const children = [tree];
      absent.set(parentSpanId, children);
      roots.push({ span: undefined, isOrphan: false, children });
    }
  }
  const starts = new Map(roots.map((root) => [root, startOf(root)]));
  return roots.sort((a, b) => Number((starts.get(a) as bigint) - (starts.get(b) as bigint)));
};
