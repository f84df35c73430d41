// `spanline bench`: the tree of its commands.
import type { Command } from 'commander';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';

const SUBCOMMANDS: Subcommands = {
  run: () => import('./run-command.js'),
  gate: () => import('./gate-command.js'),
  compare: () => import('./compare-command.js'),
  history: () => import('./history-command.js'),
  overhead: () => import('./overhead/overhead-command.js'),
};

/** Register the commands. */
export const registerBench = async (program: Command, words: Words): Promise<void> => {
  const bench = program
    .command('bench')
    .description('run benchmarks: keep their results by commit, gate changes, measure what tracing costs a service')
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
  await addSubcommands(bench, SUBCOMMANDS, words);
};
