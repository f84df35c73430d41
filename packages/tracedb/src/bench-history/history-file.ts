// A history of runs in a file of JSON lines, small enough to lie in the repository. A run must never be lost to another that is appended at the
// same time, nor a half line of an earlier crash make the next one unreadable.
import { appendFileSync, closeSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeDirectory } from 'spanline/internal/base';
import { BenchError } from './bench-error.js';
import { type BenchRun, benchRunLine, parseBenchRun } from './run-record.js';

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
 * import { mkdtempSync } from 'node:fs';
 * import { tmpdir } from 'node:os';
 * import { join } from 'node:path';
 * import { appendBenchRun, machineClass, parseBenchOutput, readBenchHistory } from '@spanline/tracedb/bench-history';
 *
 * const file = join(mkdtempSync(join(tmpdir(), 'bench-')), 'history.jsonl');
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
 * Throws `ERR_SPANLINE_BENCH_HISTORY` with the number of the line that is no run; of a file over 256 MiB too: ingest that into a Perf store.
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
