// `spanline gold`: the tree of its commands, and `init`, which makes a store, once.
import type { Command } from 'commander';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '../../tracedb/tile.js';
import { wholeNumber, withAllowedChars } from '../options.js';
import { registerBlame } from './blame-command.js';
import { type NewGoldStore, printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';
import { registerIgnores } from './ignores-command.js';
import { registerPut } from './put-command.js';
import { registerSearch } from './search-command.js';
import { registerTile } from './tile-command.js';
import { registerTriage } from './triage-command.js';

const registerInit = (gold: Command): void => {
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

/** Register the commands. */
export const registerGold = (program: Command): void => {
  const gold = program
    .command('gold')
    .description('digests of results by commit: store, triage, blame, search')
    .addHelpText(
      'after',
      `
The store is a directory (LMDB) or bigtable://project/instance/table. Name it with --store or SPANLINE_GOLD_STORE.

Examples:
  $ spanline gold put --store ./gold results.json
  $ spanline gold search --store ./gold
  $ spanline gold triage --store ./gold circle positive 0cc175b9c0f1b6a831c399e269772661`,
    );
  registerInit(gold);
  registerPut(gold);
  registerTile(gold);
  registerTriage(gold);
  registerIgnores(gold);
  registerBlame(gold);
  registerSearch(gold);
};
