// `spanline bench`: the tree of its commands.
import type { Command } from 'commander';
import { registerCompare } from './compare-command.js';
import { registerGate } from './gate-command.js';
import { registerHistory } from './history-command.js';
import { registerOverhead } from './overhead/overhead-command.js';
import { registerRun } from './run-command.js';

/** Register the commands. */
export const registerBench = (program: Command): void => {
  const bench = program
    .command('bench')
    .description('run benchmarks: keep their results by commit, gate changes, tell what tracing costs a service')
    .addHelpText(
      'after',
      `
Understood are tinybench, vitest bench, autocannon, hyperfine, spanline's own benchmarks, and a list of { name, value, unit }.

Examples:
  $ spanline bench run --file bench/history.jsonl -- node bench/encode.js
  $ spanline bench gate --base origin/main -- node bench/encode.js
  $ spanline bench compare -f bench/history.jsonl HEAD~1 HEAD
  $ spanline bench history -f bench/history.jsonl encode
  $ spanline bench overhead --url /api -- node server.js`,
    );
  registerRun(bench);
  registerGate(bench);
  registerCompare(bench);
  registerHistory(bench);
  registerOverhead(bench);
};
