// `spanline perf`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';

const SUBCOMMANDS: Subcommands = {
  init: () => import('./init-command.js'),
  ingest: () => import('./ingest-command.js'),
  tiles: () => import('./tiles-command.js'),
  traces: () => import('./traces-command.js'),
  query: () => import('./query-command.js'),
  commits: () => import('./commits-command.js'),
  indices: () => import('./indices-command.js'),
  config: () => import('./config-command.js'),
  compare: () => import('./compare-command.js'),
  regressions: () => import('./regressions-command.js'),
};

/** Register the commands. */
export const registerPerf = async (program: Command, words: Words): Promise<void> => {
  const perf = program
    .command('perf')
    .description('values of benchmarks by commit: store, query, compare, find regressions')
    .addHelpText(
      'after',
      `
The store is a directory (LMDB) or bigtable://project/instance/table. Name it with --store, a --config file, or SPANLINE_PERF_STORE.

Examples:
  $ spanline perf ingest --store ./perf history.jsonl.gz
  $ spanline perf query --store ./perf 'test=~span' --explain
  $ spanline perf regressions --store ./perf --plot`,
    );
  await addSubcommands(perf, SUBCOMMANDS, words);
};
