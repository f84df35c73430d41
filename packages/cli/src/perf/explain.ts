// The executed plan of a query, drawn from its spans: a tree with the figures each node left, like EXPLAIN ANALYZE. It reads spans
// only, so what is drawn is what a tracing backend shows.

import { CPU_COVERAGE, CPU_NS, CPU_SAMPLES, CPU_STDERR_NS } from '@spanline/profile';
import type { SpanRecord } from 'spanline';
import type { Glyphs } from 'spanline/internal/formats';
import { spanForest, walkTree } from 'spanline/internal/record';
import { glyphsOf } from '../glyphs.js';
import { columns } from '../output.js';

/** Figures with a column of their own; everything else is written behind the name. */
const FIGURES = ['wait.ms', 'rows', 'bytes', 'ids.in', 'ids.out', 'batches'] as const;
const CPU: readonly string[] = [CPU_NS, CPU_SAMPLES, CPU_STDERR_NS, CPU_COVERAGE];
const OWN_COLUMN: ReadonlySet<string> = new Set([...FIGURES, ...CPU]);
const headOf = ({ plusMinus }: Glyphs): readonly string[] => ['node', 'ms', 'cpu.ms', `${plusMinus}ms`, ...FIGURES];
const MAX_INDENT = 40;

/** Every read has the engine of the store; once is enough. */
const isRepeated = (name: string, depth: number): boolean => name === 'engine' && depth > 0;

const label = ({ name, properties }: SpanRecord, depth: number): string => {
  const rest = Object.entries(properties)
    .filter(([key]) => !OWN_COLUMN.has(key) && !isRepeated(key, depth))
    .map(([key, value]) => `${key}=${String(value)}`);
  return `${'  '.repeat(Math.min(depth, MAX_INDENT))}${[name, ...rest].join(' ')}`;
};

/** CPU time of a node and everything beneath it, as its samples tell. */
export interface NodeCpu {
  readonly ms: number;
  /** Standard error of `ms`. */
  readonly stderrMs: number;
  readonly samples: number;
}

/** Undefined for a node that no sample has met: it took less than samples can tell. */
const cpuOf = ({ properties }: SpanRecord): NodeCpu | undefined => {
  const samples = Number(properties[CPU_SAMPLES] ?? 0);
  if (samples === 0) return undefined;
  return { ms: Number(properties[CPU_NS]) / 1e6, stderrMs: Number(properties[CPU_STDERR_NS]) / 1e6, samples };
};

const NO_CPU = ['-', ''] as const;

const cpuCells = (cpu: NodeCpu | undefined, { plusMinus }: Glyphs): readonly string[] =>
  cpu === undefined ? NO_CPU : [cpu.ms.toFixed(1), `${plusMinus}${cpu.stderrMs.toFixed(1)}`];

/** The tree as text. */
export const explainText = (spans: readonly SpanRecord[]): string => {
  const rows: string[][] = [];
  const glyphs = glyphsOf();
  const head = headOf(glyphs);
  walkTree(spanForest(spans), ({ span }, depth) => {
    const { properties } = span;
    const figures = FIGURES.map((figure) => (properties[figure] === undefined ? '' : String(properties[figure])));
    rows.push([label(span, depth), (span.durationNs / 1e6).toFixed(3), ...cpuCells(cpuOf(span), glyphs), ...figures]);
    return true;
  });
  return columns(head, rows, 'l'.padEnd(head.length, 'r'));
};

/** The tree for a program: a node with its children. */
export interface ExplainedNode {
  readonly name: string;
  readonly durationMs: number;
  /** Left out where no sample has met the node. */
  readonly cpu?: NodeCpu;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly children: ExplainedNode[];
}

/** The roots of the tree. */
export const explainTree = (spans: readonly SpanRecord[]): ExplainedNode[] => {
  const roots: ExplainedNode[] = [];
  const path: ExplainedNode[] = [];
  walkTree(spanForest(spans), ({ span }, depth) => {
    const properties = Object.fromEntries(Object.entries(span.properties).filter(([key]) => !CPU.includes(key)));
    const node = { name: span.name, durationMs: span.durationNs / 1e6, cpu: cpuOf(span), properties, children: [] };
    path.length = depth;
    (path[depth - 1]?.children ?? roots).push(node);
    path.push(node);
    return true;
  });
  return roots;
};
