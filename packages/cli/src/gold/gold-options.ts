// A Gold store for the commands that work on one.

import { GoldStore } from '@spanline/tracedb';
import type { Command } from 'commander';
import { type Call, type OpenOptions, type StoreOptions, withStoreOptions, withTable } from '../store-session.js';

export { note, printAnswer } from '../output.js';
export type { StoreOptions } from '../store-session.js';

/** Settings that a new store is made with. */
export interface NewGoldStore {
  readonly tileSize?: number;
  readonly digestDigits?: number;
}

/** Give a command the options of every command on a Gold store. */
export const withStore = (command: Command): Command => withStoreOptions(command, 'gold');

/** Open the store, run `work`, close it. A store that does not exist is made only when `make` is given. */
export const withGold = (
  options: StoreOptions,
  work: (session: { readonly gold: GoldStore; readonly call: Call }) => Promise<void>,
  open: OpenOptions<NewGoldStore> = {},
): Promise<void> =>
  withTable('gold', options, open, async ({ table, config, rule, call }) => {
    const { make } = open;
    const settings = make && { digestDigits: make.digestDigits, tileSize: make.tileSize ?? config?.tileSize };
    await work({ gold: await GoldStore.open(table, { ...settings, rule, ...call }), call });
  });
