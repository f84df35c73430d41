// `spanline bench`: the tree of its commands.
import type { Command } from 'commander';
import { registerGate } from './gate-command.js';
import { registerRun } from './run-command.js';

/** Register the commands. */
export const registerBench = (program: Command): void => {
  const bench = program
    .command('bench')
    .description('run benchmarks: keep their results by commit, gate changes')
    .addHelpText(
      'after',
      `
Understood are tinybench, vitest bench, autocannon, hyperfine, spanline's own benchmarks, and a list of { name, value, unit }.

Examples:
  $ spanline bench run --file bench/history.jsonl -- node bench/encode.js
  $ spanline bench gate --base origin/main -- node bench/encode.js`,
    );
  registerRun(bench);
  registerGate(bench);
};
