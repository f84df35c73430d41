// One run of a benchmark at one commit, as a line of a history file keeps it. `spanline perf ingest` reads the same lines, so that a series has the
// same params whichever way it came into a store.
import { escapeText } from 'spanline/internal/base';
import { integer, list, number, object, record, type Shaped, shaped, text } from '../ingest/shape.js';
import { TraceDbError } from '../tracedb-error.js';
import { BenchError } from './bench-error.js';
import { type BenchFigure, keptSamples } from './figure.js';

/** What was measured where. */
export interface BenchRun {
  /** Hash of the commit. */
  readonly commit: string;
  /** When that commit was made, Unix milliseconds. */
  readonly commitMs?: number;
  /** When it was measured, Unix milliseconds. */
  readonly measuredMs: number;
  /** The tool whose output it was. */
  readonly tool: string;
  /** Major version of Node. */
  readonly node: string;
  /** Machines of one class make one series. */
  readonly machine: string;
  readonly figures: readonly BenchFigure[];
}

const BENCH = object(
  { name: text(1), value: number(), unit: text(), params: record(text()) },
  { samples: list(number()) },
);
const LINE = object(
  { commit: text(1), date: integer({ least: 0 }), benches: list(BENCH) },
  { timestamp: text(), tool: text() },
);

/** Seven digits are more than any benchmark can tell apart, and keep a line short. */
const rounded = (value: number): number => Number(value.toPrecision(7));

/** The line of a run, with its line break. */
export const benchRunLine = ({ commit, commitMs, measuredMs, tool, node, machine, figures }: BenchRun): string => {
  const benches = figures.map(({ bench, metric, unit, value, samples }) => ({
    name: `${bench} ${metric}`,
    value: rounded(value),
    unit,
    params: { bench, metric, node, machine, tool },
    ...(samples.length > 0 && { samples: samples.map(rounded) }),
  }));
  const timestamp = commitMs === undefined ? {} : { timestamp: new Date(commitMs).toISOString() };
  return `${JSON.stringify({ commit, ...timestamp, date: measuredMs, tool, benches })}\n`;
};

const shapedLine = (at: string, line: string): Shaped<typeof LINE> => {
  try {
    return shaped(LINE, at, JSON.parse(line));
  } catch (error) {
    const why = error instanceof TraceDbError ? error.message : `${escapeText(at)}: is no JSON`;
    throw new BenchError('ERR_SPANLINE_BENCH_HISTORY', `${why}; it is no line that spanline bench run has written`, {
      cause: error,
    });
  }
};

/** The run that a line holds; `at` names file and line in errors. Throws `ERR_SPANLINE_BENCH_HISTORY`. */
export const parseBenchRun = (at: string, line: string): BenchRun => {
  const { commit, timestamp, date, tool = '', benches } = shapedLine(at, line);
  const [{ params: { node = '', machine = '' } = {} } = {}] = benches;
  const commitMs = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  return {
    commit,
    ...(Number.isFinite(commitMs) && { commitMs }),
    measuredMs: date,
    tool,
    node,
    machine,
    figures: benches.map(({ name, value, unit, params: { bench = name, metric = 'value' }, samples = [] }) => ({
      bench,
      metric,
      unit,
      value,
      samples: keptSamples(samples),
    })),
  };
};
