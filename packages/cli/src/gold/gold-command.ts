// `spanline gold`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { addSubcommands, type Subcommands, type Words } from '../subcommands.js';

const SUBCOMMANDS: Subcommands = {
  init: () => import('./init-command.js'),
  put: () => import('./put-command.js'),
  'tile dense-tile': () => import('./tile-command.js'),
  triage: () => import('./triage-command.js'),
  ignores: () => import('./ignores-command.js'),
  blame: () => import('./blame-command.js'),
  search: () => import('./search-command.js'),
};

/** Register the commands. */
export const registerGold = async (program: Command, words: Words): Promise<void> => {
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
  await addSubcommands(gold, SUBCOMMANDS, words);
};
