// A Gold store for the commands that work on one.
import type { Command } from 'commander';
import { type CleaningRule, GOLD_SCHEMA, GoldStore, readInstanceConfig } from '../../tracedb/index.js';
import { configuredRule } from '../configured-rule.js';
import { type Call, type StoreOptions as CommonOptions, withStoreOptions, withTable } from '../store-session.js';

export { note, printJson } from '../store-session.js';

/** Options of every command on a Gold store. */
export interface StoreOptions extends CommonOptions {
  readonly config?: string;
  readonly allowedChars?: CleaningRule;
}

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
export const withStore = (command: Command): Command =>
  withStoreOptions(command, 'gold').option('-c, --config <file>', 'config file of the instance, which names its store');

/** How a command opens its store. */
export interface OpenOptions {
  /** Make the store when there is none, with these settings. */
  readonly make?: NewGoldStore;
  /** See `SessionRequest`; `rule` is how the store that would be made cleans params. */
  readonly isWorthMaking?: (rule: CleaningRule | undefined) => Promise<boolean>;
}

/** Open the store, run `work`, close it. A store that does not exist is made only when `make` is given. */
export const withGold = async (
  options: StoreOptions,
  work: (session: GoldSession) => Promise<void>,
  { make, isWorthMaking }: OpenOptions = {},
): Promise<void> => {
  const config = options.config === undefined ? undefined : await readInstanceConfig(options.config);
  const request = { kind: 'gold', schema: GOLD_SCHEMA, options, configured: config?.store } as const;
  const rule = options.allowedChars ?? configuredRule(config);
  const checked = isWorthMaking && (() => isWorthMaking(rule));
  await withTable({ ...request, make: make !== undefined, isWorthMaking: checked }, async (table, call) => {
    const settings = make && { digestDigits: make.digestDigits, tileSize: make.tileSize ?? config?.tileSize };
    await work({ gold: await GoldStore.open(table, { ...settings, rule, ...call }), call });
  });
};
