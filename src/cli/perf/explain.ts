// The executed plan of a query, drawn from its spans: a tree with the figures each node left, like EXPLAIN ANALYZE. It reads spans
// only, so what is drawn is what a tracing backend shows.
import type { SpanRecord } from '../../collector/record.js';
import { spanForest, walkForest } from '../../exporters/console/span-forest.js';
import { columns } from '../columns.js';

/** Figures with a column of their own; everything else is written behind the name. */
const FIGURES = ['wait.ms', 'rows', 'bytes', 'ids.in', 'ids.out', 'batches'] as const;
const OWN_COLUMN: ReadonlySet<string> = new Set(FIGURES);
const MAX_INDENT = 40;

/** Every read has the engine of the store; once is enough. */
const isRepeated = (name: string, depth: number): boolean => name === 'engine' && depth > 0;

const label = ({ name, properties }: SpanRecord, depth: number): string => {
  const rest = Object.entries(properties)
    .filter(([key]) => !OWN_COLUMN.has(key) && !isRepeated(key, depth))
    .map(([key, value]) => `${key}=${String(value)}`);
  return `${'  '.repeat(Math.min(depth, MAX_INDENT))}${[name, ...rest].join(' ')}`;
};

/** The tree as text. */
export const explainText = (spans: readonly SpanRecord[]): string => {
  const rows: string[][] = [];
  walkForest(spanForest(spans), ({ span }, depth) => {
    const { properties } = span;
    const figures = FIGURES.map((figure) => (properties[figure] === undefined ? '' : String(properties[figure])));
    rows.push([label(span, depth), (span.durationNs / 1e6).toFixed(3), ...figures]);
    return true;
  });
  return columns(['node', 'ms', ...FIGURES], rows, ['left', ...Array<'right'>(FIGURES.length + 1).fill('right')]);
};

/** The tree for a program: a node with its children. */
export interface ExplainedNode {
  readonly name: string;
  readonly durationMs: number;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly children: ExplainedNode[];
}

/** The roots of the tree. */
export const explainTree = (spans: readonly SpanRecord[]): ExplainedNode[] => {
  const roots: ExplainedNode[] = [];
  const path: ExplainedNode[] = [];
  walkForest(spanForest(spans), ({ span }, depth) => {
    const node = { name: span.name, durationMs: span.durationNs / 1e6, properties: span.properties, children: [] };
    path.length = depth;
    (path[depth - 1]?.children ?? roots).push(node);
    path.push(node);
    return true;
  });
  return roots;
};
