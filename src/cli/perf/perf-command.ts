// `spanline perf`: the tree of its commands, and two small ones: `init`, which makes a store, once, and `commits`, with the numbers that tiles
// and values are counted by.
import type { Command } from 'commander';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../../tracedb/tile.js';
import { columns } from '../columns.js';
import { wholeNumber, withAllowedChars } from '../options.js';
import { registerCompare } from './compare-command.js';
import { registerConfig } from './config-command.js';
import { registerIndices } from './indices-command.js';
import { registerIngest } from './ingest-command.js';
import { type NewPerfStore, printAnswer, type StoreOptions, withPerf, withStore } from './perf-options.js';
import { registerQuery } from './query-command.js';
import { registerRegressions } from './regressions-command.js';
import { registerTiles } from './tiles-command.js';
import { registerTraces } from './traces-command.js';

const registerInit = (perf: Command): void => {
  withAllowedChars(withStore(perf.command('init')))
    .description('make a store; harmless when it exists and was made so')
    .option(
      '--tile-size <commits>',
      'commits of a tile: fixed once there is data (default 256)',
      wholeNumber(MIN_TILE_SIZE, MAX_TILE_SIZE),
    )
    .option('--shards <count>', 'shards of a tile: fixed once there is data (default 8)', wholeNumber(1, 64))
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline perf init --store ./perf\n  $ spanline perf init --store ./perf --tile-size 1024',
    )
    .action(async (options: StoreOptions & NewPerfStore) => {
      await withPerf(
        options,
        async ({ perf }) => {
          const made = { store: perf.table.location, engine: perf.table.engine, ...perf.config };
          const text = `${made.store}: tiles of ${made.tileSize} commits in ${made.shards} shards\n`;
          printAnswer(options.json, made, text);
        },
        { make: { tileSize: options.tileSize, shards: options.shards } },
      );
    });
};

interface CommitsOptions extends StoreOptions {
  readonly last?: number;
}

const registerCommits = (perf: Command): void => {
  withStore(perf.command('commits'))
    .description('the commits of the store: number, hash, time; the oldest first')
    .option('-n, --last <count>', 'only the newest ones', wholeNumber(1))
    .addHelpText('after', '\nExamples:\n  $ spanline perf commits -s ./perf --last 20')
    .action((options: CommitsOptions) =>
      withPerf(options, async ({ perf: store, call }) => {
        const all = await store.commits.list({}, call);
        const commits = options.last === undefined ? all : all.slice(-options.last);
        const rows = commits.map(({ number, hash, timestampMs }) => [
          String(number),
          hash,
          timestampMs === undefined ? '' : new Date(timestampMs).toISOString(),
        ]);
        printAnswer(options.json, commits, columns(['number', 'commit', 'time'], rows, 'rll'));
      }),
    );
};

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
