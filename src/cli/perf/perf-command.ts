// `spanline perf`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { registerCommits } from './commits-command.js';
import { registerCompare } from './compare-command.js';
import { registerConfig } from './config-command.js';
import { registerIndices } from './indices-command.js';
import { registerIngest } from './ingest-command.js';
import { registerInit } from './init-command.js';
import { registerQuery } from './query-command.js';
import { registerRegressions } from './regressions-command.js';
import { registerTiles } from './tiles-command.js';
import { registerTraces } from './traces-command.js';

/** Register the commands. */
export const registerPerf = (program: Command): void => {
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
  registerInit(perf);
  registerIngest(perf);
  registerTiles(perf);
  registerTraces(perf);
  registerQuery(perf);
  registerCommits(perf);
  registerIndices(perf);
  registerConfig(perf);
  registerCompare(perf);
  registerRegressions(perf);
};
