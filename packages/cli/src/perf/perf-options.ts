// A Perf store for the commands that work on one, opened by --store or by the config file of an instance, and the tile of it that a command works on.

import { PerfStore } from '@spanline/tracedb';
import { options } from '../command.js';
import { notFound } from '../exit-code.js';
import { wholeNumber } from '../options.js';
import { type OpenedTable, type OpenOptions, type StoreOptions, storeOptions, withTable } from '../store-session.js';

/** Settings that a new store is made with. */
export interface NewPerfStore {
  readonly tileSize?: number;
  readonly shards?: number;
}

/** What a command works with. */
export interface PerfSession extends Pick<OpenedTable, 'config' | 'call' | 'isNew'> {
  readonly perf: PerfStore;
}

/** The options of every command on a Perf store. */
export const STORE = storeOptions('perf');

/** Open the store, run `work`, close it. A store that does not exist is made only when `make` is given. */
export const withPerf = (
  options: StoreOptions,
  work: (session: PerfSession) => Promise<void>,
  open: OpenOptions<NewPerfStore> = {},
): Promise<void> =>
  withTable('perf', options, open, async ({ table, config, rule, call, isNew }) => {
    // What the config file says must be so; what it leaves out is up to the store.
    const { tileSize = config?.tileSize, shards = config?.shards } = open.make ?? {};
    const perf = await PerfStore.open(table, { tileSize, shards, rule, ...call });
    await work({ perf, config, call, isNew });
  });

/** Those of a command on one tile of it. */
export const TILE = options({
  ...STORE,
  tile: ['-t, --tile <number>', 'the tile; the newest when left out', wholeNumber(0)],
});

/** The tile a command works on: the one asked for, else the newest. */
export const tileFor = async ({ perf, call }: PerfSession, asked: number | undefined): Promise<number> => {
  const tile = asked ?? (await perf.latestTile(call));
  if (tile !== undefined) return tile;
  throw notFound(`${perf.table.location} has no tile yet; write data with spanline perf ingest`);
};
