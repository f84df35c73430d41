// The shape of a trace: names, parents and counts of its spans, and no times. Two traces that did the same work have the same shape, in whatever
// order and however fast. Nothing here may recurse: a tree can be as deep as it has spans.
import { createHash } from 'node:crypto';
import { getOrMake } from '../base/maps/maps.js';
import { escapeText } from '../base/text/escape-text.js';
import type { FinishedSpan } from '../record/finished-span.js';
import { plant, type SpanNode, walkTree } from '../record/tree.js';

/** What a shape knows of a span. */
export type ShapedSpan = Pick<FinishedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name'>;

/** Spans of one name under one parent whose own children are of one shape. */
export interface ShapeNode {
  readonly name: string;
  /** How many of them there are under one parent. */
  readonly count: number;
  /** 32 hex digits that stand for the name and all below, and not for the count. */
  readonly digest: string;
  /** By name, then by digest. */
  readonly children: readonly ShapeNode[];
}

/** The shape of a trace. */
export interface TraceShape {
  /** 32 hex digits: equal for equal shapes. */
  readonly digest: string;
  /** One for a whole trace; further ones are spans whose parents are absent. */
  readonly roots: readonly ShapeNode[];
}

/** How a shape is taken. */
export interface ShapeOptions {
  /** `ignore`: that there are several of a kind counts, not how many. Default `exact`. */
  readonly counts?: 'exact' | 'ignore';
}

const DIGEST_DIGITS = 32;

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, DIGEST_DIGITS);

const byNameAndDigest = (a: ShapeNode, b: ShapeNode): number => {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.digest < b.digest ? -1 : 1;
};

/** Equal ones together. */
const grouped = (nodes: readonly ShapeNode[], countOf: (count: number) => number): ShapeNode[] => {
  const byDigest = new Map<string, ShapeNode[]>();
  for (const node of nodes) getOrMake(byDigest, node.digest, (): ShapeNode[] => []).push(node);
  return [...byDigest.values()].map((equal) => ({ ...equal[0], count: countOf(equal.length) })).sort(byNameAndDigest);
};

/** Names hold any characters: as JSON, none of them is mistaken for the marks around it. */
const textOf = (children: readonly ShapeNode[]): string =>
  JSON.stringify(children.map(({ digest, count }) => [digest, count]));

/** Every node after its children. */
const childrenFirst = <T>(roots: readonly SpanNode<T>[]): SpanNode<T>[] => {
  const order: SpanNode<T>[] = [];
  walkTree(roots, (node) => {
    order.push(node);
  });
  return order.reverse();
};

/**
 * The shape of the spans of a trace. Use it to find traces that did the same, or to notice that one did not: a query a row where there was one
 * for all of them, a span that got lost. The digest of a node is made of its name and of the digests and counts below it (a Merkle tree).
 *
 * @example
 * ```ts
 * import { traceShape } from 'spanline/testing';
 * console.assert(traceShape([]).roots.length === 0);
 * ```
 */
export const traceShape = (spans: readonly ShapedSpan[], { counts = 'exact' }: ShapeOptions = {}): TraceShape => {
  const countOf = (count: number): number => (counts === 'exact' ? count : Math.min(count, 2));
  const trees = plant(spans);
  const shapes = new Map<SpanNode<ShapedSpan>, ShapeNode>();
  const take = (nodes: readonly SpanNode<ShapedSpan>[]): ShapeNode[] =>
    grouped(
      nodes.map((node) => shapes.get(node) as ShapeNode),
      countOf,
    );
  for (const node of childrenFirst(trees)) {
    const { name } = node.span;
    const children = take(node.children);
    shapes.set(node, { name, count: 1, digest: digestOf(`${JSON.stringify(name)}${textOf(children)}`), children });
  }
  const roots = take(trees);
  return { digest: digestOf(textOf(roots)), roots };
};

/** Lines of a shape beyond these are counted, not drawn. */
const MAX_LINES = 10_000;
/** Where the indentation stops: deeper lines name their depth. */
const MAX_INDENT = 40;

/**
 * A shape as an indented tree, a line a node: `SELECT item ×3`. With `counts: 'ignore'` the mark is `×n`. Names are escaped; a shape of more than
 * 10,000 nodes ends with how many are left out.
 */
export const drawShape = ({ digest, roots }: TraceShape, { counts = 'exact' }: ShapeOptions = {}): string => {
  const lines: string[] = [];
  let left = 0;
  walkTree(roots, ({ name, count }, depth) => {
    if (lines.length >= MAX_LINES) {
      left++;
      return;
    }
    const indent = depth <= MAX_INDENT ? '  '.repeat(depth) : `${'  '.repeat(MAX_INDENT)}(depth ${depth}) `;
    const times = count === 1 ? '' : ` ×${counts === 'exact' ? count : 'n'}`;
    lines.push(`${indent}${escapeText(name)}${times}`);
  });
  // What is not drawn counts too where drawings are compared.
  if (left > 0) lines.push(`... and ${left} nodes more, digest ${digest}`);
  return lines.join('\n');
};
