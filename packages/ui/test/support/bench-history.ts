// A directory of history files as `spanline bench run --file` writes them: 60 commits, a figure with a step, one without, one of another unit, one
// that a single commit has, and one whose name is markup.
import { join } from 'node:path';
import { appendBenchRun, type BenchRun } from '../../../tracedb/src/bench-history/index.js';

export const COMMITS = 60;
/** The first commit of the new level. */
export const STEP_AT = 30;
export const HOSTILE = '<img src=x onerror="document.title=\'taken\'">';

/** The hash of a commit, whose first digits no other has. */
export const hashOf = (commit: number): string => (commit + 16).toString(16).padStart(2, '0').repeat(20);
export const DAY_MS = Date.UTC(2026, 0, 1);

/** Without any chance: the same values in each run. */
const jitter = (commit: number): number => ((commit * 7919) % 100) / 100;

const runAt = (
  commit: number,
  figures: readonly (readonly [bench: string, metric: string, unit: string, value: number])[],
): BenchRun => ({
  commit: hashOf(commit),
  commitMs: DAY_MS + commit * 86_400_000,
  measuredMs: DAY_MS + 400 * 86_400_000,
  tool: 'tinybench',
  node: '20',
  machine: 'x64-2',
  figures: figures.map(([bench, metric, unit, value]) => ({ bench, metric, unit, value, samples: [value, value] })),
});

export const encodeAt = (commit: number): number => (commit < STEP_AT ? 100 : 130) + jitter(commit);
export const decodeAt = (commit: number): number => 80 + jitter(commit);

/** Make `codec.jsonl` and `other.jsonl` in a directory. */
export const makeBenchHistory = (directory: string): void => {
  for (let commit = 0; commit < COMMITS; commit++) {
    appendBenchRun(
      join(directory, 'codec.jsonl'),
      runAt(commit, [
        ['encode', 'latency', 'ms', encodeAt(commit)],
        ['decode', 'latency', 'ms', decodeAt(commit)],
        ['encode', 'throughput', 'ops/s', 5000 - encodeAt(commit)],
      ]),
    );
  }
  appendBenchRun(
    join(directory, 'other.jsonl'),
    runAt(10, [
      ['once', 'size', 'bytes', 4096],
      [HOSTILE, 'size', 'bytes', 1024],
    ]),
  );
};
