// The spans of a trace by parentage, as they are drawn: those that name a parent that is absent hang below a node that says so. Every span
// stands in it once, whatever the parents say.
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { type TraceNode as Tree, traceTrees } from '../../../trace/tree.js';

/** A span, or the place of a parent that is absent. */
export interface TraceNode {
  /** Undefined: the parent `spanId` is not in the archive. */
  readonly span: ArchivedSpan | undefined;
  readonly spanId: string;
  /** Its parent is there, and hangs below it: a circle, which was opened here. */
  readonly isOpened: boolean;
  /** By start. */
  readonly children: readonly TraceNode[];
}

/** A node of which the children are made when they are asked for: a tree can be as deep as it has spans. */
const nodeOf = ({ span, children }: Tree, isOpened = false): TraceNode => ({
  span,
  spanId: span.spanId,
  isOpened,
  get children() {
    return children.map((child) => nodeOf(child));
  },
});

const startOf = ({ span, children }: TraceNode): bigint => (span ?? children[0].span)?.startUnixNs ?? 0n;

/** The roots, by start. */
export const traceTree = (spans: readonly ArchivedSpan[]): TraceNode[] => {
  const present = new Set(spans.map(({ spanId }) => spanId));
  const roots: TraceNode[] = [];
  const absent = new Map<string, TraceNode[]>();
  for (const tree of traceTrees(spans)) {
    const { parentSpanId } = tree.span;
    if (parentSpanId === '' || present.has(parentSpanId)) {
      roots.push(nodeOf(tree, parentSpanId !== ''));
      continue;
    }
    const siblings = absent.get(parentSpanId);
    if (siblings !== undefined) {
      siblings.push(nodeOf(tree));
      continue;
    }
    const children = [nodeOf(tree)];
    absent.set(parentSpanId, children);
    roots.push({ span: undefined, spanId: parentSpanId, isOpened: false, children });
  }
  const starts = new Map(roots.map((root) => [root, startOf(root)]));
  return roots.sort((a, b) => Number((starts.get(a) as bigint) - (starts.get(b) as bigint)));
};
