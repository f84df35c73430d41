// A history of runs in a file of JSON lines, small enough to lie in the repository; a line is one run of a benchmark at one commit on one class of
// machines. `spanline perf ingest` reads the same lines, so that a series has the same params whichever way it came into a store. A run must never be
// lost to another that is appended at the same time, nor a half line of an earlier crash make the next one unreadable, nor the class of a machine
// contain what changes from one boot to the next.

import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { arch, availableParallelism, cpus, platform } from 'node:os';
import { dirname } from 'node:path';
import { escapeText, makeDirectory } from 'spanline/internal/base';
import { integer, list, number, object, record, type Shaped, shaped, text } from '../ingest/shape.js';
import { TraceDbError } from '../tracedb-error.js';
import { BenchError, type BenchFigure, keptSamples } from './figure.js';

/** Threads that programs may run on and the model of the processor tell machines of a cloud apart; their names tell none. */
export const machineClass = (): string => {
  const model = cpus()[0]?.model.trim().replace(/\s+/g, ' ') || 'unknown processor';
  return `${platform()}-${arch()} ${availableParallelism()}x ${model}`;
};

/** The major version of Node: minor ones of a line are compared with each other. */
export const nodeMajor = (version: string = process.versions.node): string => version.split('.', 1)[0];

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
  { commit: text(1), date: integer({ min: 0 }), benches: list(BENCH) },
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
    const why = error instanceof TraceDbError ? error.message : `${escapeText(at)}: is not JSON`;
    throw new BenchError('ERR_SPANLINE_BENCH_HISTORY', `${why}; it is not a record that spanline bench run wrote`, {
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

/** A file that is read at once is no larger. */
const MAX_BYTES = 256 * 2 ** 20;

const LINE_BREAK = 10;

const failure = (file: string, what: string, cause: unknown): BenchError =>
  new BenchError('ERR_SPANLINE_BENCH_HISTORY', `${file} cannot be ${what}: ${(cause as Error).message}`, { cause });

const endsInLine = (file: string): boolean => {
  const descriptor = openSync(file, 'a+');
  try {
    const { size } = fstatSync(descriptor);
    const last = Buffer.alloc(1);
    return size === 0 || (readSync(descriptor, last, 0, 1, size - 1) === 1 && last[0] === LINE_BREAK);
  } finally {
    closeSync(descriptor);
  }
};

/**
 * Append a run to a history file, which is made with its directory where there is none. Use it where a benchmark is run by a program of your
 * own; `spanline bench run --file` does it for a command. Throws `ERR_SPANLINE_BENCH_HISTORY`.
 *
 * @example
 * ```ts
 * import { appendBenchRun, machineClass, parseBenchOutput, readBenchHistory } from '@spanline/tracedb/bench-history';
 *
 * const file = './history.jsonl';
 * const { tool, figures } = parseBenchOutput('[{ "name": "encode", "value": 12.5, "unit": "ms" }]');
 * const commit = '868f75e448c7c3a0efd75d72c448269f1375a996';
 * appendBenchRun(file, { commit, measuredMs: Date.now(), tool, node: '20', machine: machineClass(), figures });
 * console.assert(readBenchHistory(file).length === 1);
 * ```
 */
export const appendBenchRun = (file: string, run: BenchRun): void => {
  try {
    makeDirectory(dirname(file));
    const line = benchRunLine(run);
    // One write, at the end wherever that is by then.
    appendFileSync(file, endsInLine(file) ? line : `\n${line}`);
  } catch (error) {
    throw failure(file, 'written', error);
  }
};

/**
 * The runs of a history file, in its order, which is that of their measurement. Use it to compare commits or to draw a trend of one's own.
 * Throws `ERR_SPANLINE_BENCH_HISTORY` with the number of the line that is not a run; of a file over 256 MiB too: ingest that into a Perf store.
 *
 * @example
 * ```ts no-run
 * import { readBenchHistory } from '@spanline/tracedb/bench-history';
 * for (const { commit, figures } of readBenchHistory('bench/history.jsonl')) console.log(commit, figures.length);
 * ```
 */
export const readBenchHistory = (file: string): readonly BenchRun[] => {
  let content: string;
  try {
    const { size } = statSync(file);
    if (size > MAX_BYTES)
      throw new Error(`it has ${size} bytes, which is too much to read at once; ingest it into a Perf store`);
    content = readFileSync(file, 'utf8');
  } catch (error) {
    throw failure(file, 'read', error);
  }
  return content
    .split('\n')
    .flatMap((line, i) => (line.trim() === '' ? [] : [parseBenchRun(`${file}:${i + 1}`, line)]));
};
