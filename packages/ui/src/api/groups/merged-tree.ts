// Two sets of traces as one tree: spans of the same name under the same names are one node, with what each side has of it. Nothing here may
// recurse: a tree can be as deep as it has spans.
import { getOrMake } from 'spanline/internal/base';
import { type ArchivedSpan, plant, type SpanNode } from 'spanline/internal/record';

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
