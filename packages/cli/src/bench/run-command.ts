// `spanline bench run`: runs a benchmark and keeps its figures for the commit that is checked out. A run that failed must leave nothing, and results
// must never be kept for a commit that nobody named.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ingestFile } from '@spanline/tracedb';
import {
  appendBenchRun,
  type BenchFigure,
  type BenchOutput,
  type BenchRun,
  benchRunLine,
  machineClass,
  nodeMajor,
  parseBenchOutput,
} from '@spanline/tracedb/bench-history';
import { figuresOfRuns, gitCommit, hasChanges, runCommand } from '@spanline/tracedb/internal';
import { type Commands, command } from '../command.js';
import { interruptible, wrongUsage } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns, digits, note, Progress, printAnswer } from '../output.js';
import { STORE, withPerf } from '../perf/perf-options.js';
import type { StoreOptions } from '../store-session.js';

/** A commit as results are kept for it. */
interface MeasuredCommit {
  readonly commit: string;
  readonly commitMs?: number;
}

const NO_REPOSITORY = 'no commit to keep the results for: run this in a git checkout, or give --commit HASH';

/** The commit given, with its time where git knows it, else the one that is checked out; undefined where there is none and `isNeeded` is false. */
const measuredCommit = async (given: string | undefined, isNeeded: boolean): Promise<MeasuredCommit | undefined> => {
  const directory = process.cwd();
  try {
    const { hash, timeMs } = await gitCommit(directory, given ?? 'HEAD');
    if (given === undefined && isNeeded && (await hasChanges(directory))) {
      note(`the checkout has uncommitted changes; the results are kept for ${hash.slice(0, 10)} without them`);
    }
    return { commit: hash, commitMs: timeMs };
  } catch {
    // A build may know its commit without having the repository.
    if (given !== undefined) return { commit: given };
    if (isNeeded) throw wrongUsage(NO_REPOSITORY);
    return undefined;
  }
};

/** Names of figures that some of the runs do not have. */
const notInAll = (outputs: readonly BenchOutput[]): readonly string[] => {
  const counts = new Map<string, number>();
  for (const { bench, metric } of outputs.flatMap(({ figures }) => figures)) {
    counts.set(`${bench} ${metric}`, (counts.get(`${bench} ${metric}`) ?? 0) + 1);
  }
  return [...counts].flatMap(([name, count]) => (count < outputs.length ? [JSON.stringify(name)] : []));
};

const measure = (command: readonly string[], runs: number): Promise<readonly BenchOutput[]> =>
  interruptible(async (signal) => {
    using progress = new Progress();
    const outputs: BenchOutput[] = [];
    for (let i = 0; i < runs; i++) {
      progress.show(`run ${i + 1} of ${runs}: ${command.join(' ')}`);
      outputs.push(parseBenchOutput((await runCommand(command, { signal })).output));
    }
    return outputs;
  }, '; nothing was kept');

/** By the way of `perf ingest`, so that both make the same series of a line. */
const writeToStore = async (run: BenchRun, options: StoreOptions): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-bench-'));
  const path = join(directory, 'run.jsonl');
  try {
    writeFileSync(path, benchRunLine(run));
    await withPerf(
      options,
      async ({ perf, call, isNew }) => {
        if (isNew) note(`made the store ${perf.table.location}: tiles of ${perf.config.tileSize} commits`);
        await ingestFile(perf, path, { ...call, name: `bench run at ${new Date(run.measuredMs).toISOString()}` });
      },
      { make: {} },
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

const tableOf = (figures: readonly BenchFigure[]): string =>
  columns(
    ['bench', 'metric', 'value', 'unit', 'least', 'most'],
    figures.map(({ bench, metric, value, unit, samples }) => [
      bench,
      metric,
      digits(value, 5),
      unit,
      samples.length === 0 ? '' : digits(Math.min(...samples), 5),
      samples.length === 0 ? '' : digits(Math.max(...samples), 5),
    ]),
    'llrlrr',
  );

const recordOf = (
  outputs: readonly BenchOutput[],
  { commit, commitMs }: MeasuredCommit,
  machine: string | undefined,
): BenchRun => ({
  commit,
  ...(commitMs !== undefined && { commitMs }),
  measuredMs: Date.now(),
  tool: outputs[0].tool,
  node: nodeMajor(),
  machine: machine ?? (process.env.SPANLINE_BENCH_MACHINE || machineClass()),
  // Each of several runs is a sample: that of the processes, which is what differs from one commit to the next.
  figures: figuresOfRuns(outputs.map(({ figures }) => figures)),
});

export const commands = {
  run: command({
    words: [['<command...>', 'benchmark and its arguments, after --']],
    what: 'run a benchmark and keep its figures, by commit, in a file or a Perf store',
    options: {
      ...STORE,
      file: ['-f, --file <file>', 'append to this file of JSON lines, which may lie in the repository'],
      commit: ['--commit <hash>', 'the commit measured (default: the one that is checked out)'],
      machine: [
        '--machine <class>',
        'name of machines that are alike (or SPANLINE_BENCH_MACHINE; default: threads and processor)',
      ],
      runs: ['-n, --runs <number>', 'run it so often; with several, each run is one sample', wholeNumber(1, 1000), 1],
    },
    help: `
The figures are read from standard output, or from the file that {out} in an argument stands for. Understood are the JSON of tinybench
(names and results of its tasks, bench.table(), or the table drawn), vitest bench --outputJson, autocannon --json, hyperfine --export-json,
spanline's own benchmarks, and a list of { name, value, unit }. In a store a series has the params bench, metric, unit, node, machine and tool;
stat is "value", or "sample" for each of up to 32 samples.

Examples:
  $ spanline bench run --file bench/history.jsonl -- node bench/encode.js
  $ spanline bench run --store ./perf --runs 10 -- node bench/encode.js
  $ spanline bench run -f bench/history.jsonl -- npx vitest bench --run --outputJson={out}
  $ spanline bench run -f bench/history.jsonl -- hyperfine -N --export-json {out} 'node cli.js'
  $ spanline bench run -f bench/history.jsonl -- autocannon --json http://localhost:3000/api

Exit codes: 0 done, 2 wrong usage, 3 the benchmark failed, its output is not understood, or the file or store failed.`,
    run: async ({ file, commit, machine, runs, ...options }, command: string[]) => {
      const isStored = options.store !== undefined || options.config !== undefined;
      if (file !== undefined && isStored) throw wrongUsage('give --file or --store, not both');
      const isKept = file !== undefined || isStored;
      const measured = await measuredCommit(commit, isKept);
      const outputs = await measure(command, runs);
      const some = notInAll(outputs);
      if (some.length > 0) note(`not in all of the ${runs} runs: ${some.join(', ')}`);
      const run = recordOf(outputs, measured ?? { commit: '' }, machine);
      if (file !== undefined) appendBenchRun(file, run);
      else if (isStored) await writeToStore(run, options);
      else note('not kept; give --file or --store');
      printAnswer(options.json, run, tableOf(run.figures));
    },
  }),
} satisfies Commands;
