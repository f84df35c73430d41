// `spanline perf init`: makes a store, once.

import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { wholeNumber } from '../options.js';
import { withAllowedChars } from '../store-session.js';
import { type NewPerfStore, printAnswer, type StoreOptions, withPerf, withStore } from './perf-options.js';

/** Register the command. */
export const register = (perf: Command): void => {
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
