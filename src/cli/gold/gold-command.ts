// `spanline gold`: the tree of its commands. Nothing runs here.
import type { Command } from 'commander';
import { registerBlame } from './blame-command.js';
import { registerIgnores } from './ignores-command.js';
import { registerInit } from './init-command.js';
import { registerPut } from './put-command.js';
import { registerSearch } from './search-command.js';
import { registerTile } from './tile-command.js';
import { registerTriage } from './triage-command.js';

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
