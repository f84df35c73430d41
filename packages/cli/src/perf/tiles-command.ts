// `spanline perf tiles last|list`: which tiles the store has.

import type { PerfStore } from '@spanline/tracedb';
import type { Command } from 'commander';
import { notFound } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { columns } from '../output.js';
import { type PerfSession, printAnswer, type StoreOptions, withPerf, withStore } from './perf-options.js';

const describe = async (perf: PerfStore, tile: number, call: PerfSession['call']) => {
  const ops = await perf.orderedParamSet(tile, call);
  const firstCommit = tile * perf.config.tileSize;
  return {
    tile,
    firstCommit,
    lastCommit: firstCommit + perf.config.tileSize - 1,
    keys: ops.keys.length,
    params: ops.keys.reduce((sum, key) => sum + ops.values(key).length, 0),
  };
};

const print = (tiles: readonly Awaited<ReturnType<typeof describe>>[], json: boolean | undefined): void => {
  const rows = tiles.map(({ tile, firstCommit, lastCommit, keys, params }) =>
    [tile, firstCommit, lastCommit, keys, params].map(String),
  );
  printAnswer(json, tiles, columns(['tile', 'first commit', 'last commit', 'keys', 'params'], rows, 'rrrrr'));
};

/** Options of a command on one tile. */
export interface TileOptions extends StoreOptions {
  readonly tile?: number;
}

/** Give a command the options of every command on one tile of a Perf store. */
export const withTile = (command: Command): Command =>
  withStore(command).option('-t, --tile <number>', 'the tile; the newest when left out', wholeNumber(0));

/** The tile a command works on: the one asked for, else the newest. */
export const tileFor = async ({ perf, call }: PerfSession, asked: number | undefined): Promise<number> => {
  const tile = asked ?? (await perf.latestTile(call));
  if (tile !== undefined) return tile;
  throw notFound(`${perf.table.location} has no tile yet; write data with spanline perf ingest`);
};

/** Register the commands. */
export const register = (perf: Command): void => {
  const tiles = perf
    .command('tiles')
    .description('the tiles of the store')
    .addHelpText('after', '\nExamples:\n  $ spanline perf tiles list --store ./perf');
  withStore(tiles.command('last'))
    .description('the newest tile')
    .addHelpText('after', '\nExamples:\n  $ spanline perf tiles last --store ./perf')
    .action((options: StoreOptions) =>
      withPerf(options, async (session) => {
        const tile = await tileFor(session, undefined);
        print([await describe(session.perf, tile, session.call)], options.json);
      }),
    );
  withStore(tiles.command('list'))
    .description('all tiles, the newest first')
    .addHelpText('after', '\nExamples:\n  $ spanline perf tiles list --store ./perf --json')
    .action((options: StoreOptions) =>
      withPerf(options, async ({ perf: store, call }) => {
        const all = await store.tiles(call);
        const described = [];
        for (const tile of all) described.push(await describe(store, tile, call));
        print(described, options.json);
      }),
    );
};
