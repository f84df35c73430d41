// Reads what tinybench gives: results (of today's form with `latency`, and of that before version 3), and the rows of `bench.table()`. It must
// never take a task that failed for one that took no time.
import { list, number, object, text } from '../../ingest/shape.js';
import { badOutput } from '../bench-error.js';
import { type BenchFigure, figureOf } from '../figure.js';
import type { BenchFormat } from './format.js';

const NS_PER_MS = 1e6;

/** Milliseconds. Version 2 has no median. */
const TIMES = object({ mean: number() }, { p50: number(), median: number(), samples: list(number()) });
const RESULT = object({ latency: TIMES }, { name: text() });
const OLD_RESULT = object({ mean: number(), hz: number() }, { name: text(), samples: list(number()) });
const TASK = object({ name: text(1), result: object({}, {}) }, {});
const FAILED = object({ state: text(1) }, { name: text() });

const has = <T>(shape: (value: unknown, all: boolean) => readonly unknown[], value: unknown): value is T =>
  shape(value, false).length === 0;

interface Times {
  readonly mean: number;
  readonly p50?: number;
  readonly median?: number;
  readonly samples?: readonly number[];
}

const ofTimes = (bench: string, { mean, p50, median = p50 ?? mean, samples }: Times): BenchFigure =>
  figureOf({ bench, metric: 'latency', unit: 'ns' }, median, samples, NS_PER_MS);

const isResult = (one: unknown): boolean => has(RESULT, one) || has(OLD_RESULT, one);

/** A task, or a result with a name of its own or none: `bench.results` has them in the order of the tasks. */
const ofResult = (one: unknown, index: number): BenchFigure => {
  const { name, result = one } = one as { readonly name?: string; readonly result?: unknown };
  const bench = name ?? `task ${index + 1}`;
  if (!isResult(result)) {
    const { state = 'without figures' } = result as { readonly state?: string };
    throw badOutput(`tinybench: ${bench} ended ${state}`);
  }
  const { latency = result } = result as { readonly latency?: unknown };
  return ofTimes(bench, latency as Times);
};

/** A row of `bench.table()`: the first number of a cell such as `927.70 ± 1.52%`. */
const ofRow = (row: Readonly<Record<string, unknown>>): readonly BenchFigure[] => {
  const bench = String(row['Task name']);
  const cells: readonly (readonly [string, string, string])[] = [
    ['Latency med (ns)', 'latency', 'ns'],
    ['Throughput med (ops/s)', 'throughput', 'ops/s'],
  ];
  const found = cells.flatMap(([column, metric, unit]) => {
    const value = Number.parseFloat(String(row[column]));
    return Number.isFinite(value) ? [figureOf({ bench, metric, unit }, value)] : [];
  });
  if (found.length === 0) throw badOutput(`tinybench: the row of ${bench} has no median: its task failed`);
  return found;
};

const isRow = (one: unknown): one is Readonly<Record<string, unknown>> =>
  typeof one === 'object' && one !== null && Object.hasOwn(one, 'Task name');

/** Results or rows. */
export const TINYBENCH: BenchFormat = {
  name: 'tinybench',
  figures(document) {
    if (!Array.isArray(document) || document.length === 0) return undefined;
    if (document.every(isRow)) return document.flatMap(ofRow);
    const isOne = (one: unknown): boolean => isResult(one) || has(TASK, one) || has(FAILED, one);
    if (!document.every(isOne)) return undefined;
    return document.map(ofResult);
  },
};

/** The rows of a table that `console.table` drew; undefined where there is none with the columns of tinybench. */
export const drawnRows = (output: string): readonly Readonly<Record<string, string>>[] | undefined => {
  const lines = output
    .split('\n')
    .filter((line) => /^[│|]/.test(line))
    .map((line) =>
      line
        .split(/[│|]/)
        .slice(1, -1)
        .map((cell) => cell.trim().replace(/^'(.*)'$/, '$1')),
    );
  const at = lines.findIndex((cells) => cells.includes('Task name'));
  if (at < 0) return undefined;
  const head = lines[at];
  const rows = lines.slice(at + 1).filter((cells) => cells.length === head.length && /^\d+$/.test(cells[0]));
  return rows.map((cells) => Object.fromEntries(head.map((title, i) => [title, cells[i]])));
};
