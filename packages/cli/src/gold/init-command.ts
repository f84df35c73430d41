// `spanline gold init`: makes a store, once.

import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '@spanline/tracedb/internal';
import type { Command } from 'commander';
import { wholeNumber } from '../options.js';
import { withAllowedChars } from '../store-session.js';
import { type NewGoldStore, printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';

/** Register the command. */
export const register = (gold: Command): void => {
  withAllowedChars(withStore(gold.command('init')))
    .description('make a store; harmless when it exists and was made so')
    .option(
      '--tile-size <commits>',
      'commits of a tile: fixed from then on (default 256)',
      wholeNumber(MIN_TILE_SIZE, MAX_TILE_SIZE),
    )
    .option(
      '--digest-digits <count>',
      'hex digits of a digest: fixed from then on (default 32, MD5)',
      wholeNumber(8, 128),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ spanline gold init --store ./gold\n  $ spanline gold init --store ./gold --digest-digits 64',
    )
    .action((options: StoreOptions & NewGoldStore) =>
      withGold(
        options,
        async ({ gold: store }) => {
          const made = { store: store.table.location, engine: store.table.engine, ...store.settings };
          const text = `${made.store}: tiles of ${made.tileSize} commits, digests of ${made.digestDigits} digits\n`;
          printAnswer(options.json, made, text);
        },
        { make: { tileSize: options.tileSize, digestDigits: options.digestDigits } },
      ),
    );
};
