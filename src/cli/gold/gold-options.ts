// A Gold store for the commands that work on one.
import type { Command } from 'commander';
import { GOLD_SCHEMA, GoldStore } from '../../tracedb/index.js';
import { type Call, type StoreOptions, withStoreOptions, withTable } from '../store-session.js';

export { printJson, type StoreOptions } from '../store-session.js';

/** What a command works with. */
export interface GoldSession {
  readonly gold: GoldStore;
  readonly call: Call;
}

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
  work: (session: GoldSession) => Promise<void>,
  make?: NewGoldStore,
): Promise<void> =>
  withTable({ kind: 'gold', schema: GOLD_SCHEMA, options, make: make !== undefined }, async (table, call) => {
    await work({ gold: await GoldStore.open(table, { ...make, ...call }), call });
  });
