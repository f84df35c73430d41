// `spanline gold tile` and `dense-tile`: the digests of traces at the last commits.

import type { GoldTile } from '@spanline/tracedb';
import type { Command } from 'commander';
import { wholeNumber } from '../options.js';
import { columns } from '../output.js';
import { printAnswer, type StoreOptions, withGold, withStore } from './gold-options.js';

interface TileOptions extends StoreOptions {
  readonly commits: number;
  readonly last?: number;
}

// Enough to tell digests apart on a screen; --json has them whole.
const SHOWN_DIGITS = 8;

const textOf = ({ commits, traces }: GoldTile): string => {
  const rows = traces.map(({ id, digests }) => [id, ...digests.map((digest) => digest.slice(0, SHOWN_DIGITS) || '-')]);
  const table = columns(['trace', ...commits.map(String)], rows);
  return `${table}${traces.length} traces at ${commits.length} commits\n`;
};

/** Register the commands. */
export const register = (gold: Command): void => {
  const register = (name: 'tile' | 'dense-tile', what: string): void => {
    withStore(gold.command(name))
      .description(what)
      .option('-n, --commits <count>', 'how many commits', wholeNumber(1, 100_000), 10)
      .option('--last <commit>', 'number of the last commit; the newest with data when left out', wholeNumber(0))
      .addHelpText('after', `\nExamples:\n  $ spanline gold ${name} --store ./gold --commits 5`)
      .action(({ commits, last, ...options }: TileOptions) =>
        withGold(options, async ({ gold: store, call }) => {
          const read = { ...call, last };
          const tile = await (name === 'tile' ? store.getTile(commits, read) : store.getDenseTile(commits, read));
          printAnswer(options.json, { ...tile, paramSet: tile.paramSet.toJSON() }, textOf(tile));
        }),
      );
  };
  register('tile', 'digests at the last commits, with or without data');
  register('dense-tile', 'digests at the last commits that have data');
};
