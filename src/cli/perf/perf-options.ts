// A Perf store for the commands that work on one: opened by --store or by the config file of an instance.
import type { Command } from 'commander';
import {
  type CleaningRule,
  type InstanceConfig,
  PERF_SCHEMA,
  PerfStore,
  readInstanceConfig,
} from '../../tracedb/index.js';
import { configuredRule } from '../configured-rule.js';
import { type Call, type StoreOptions as CommonOptions, withStoreOptions, withTable } from '../store-session.js';

export { note, printJson, writeOut } from '../store-session.js';

/** Options of every command on a Perf store. */
export interface StoreOptions extends CommonOptions {
  readonly config?: string;
  readonly allowedChars?: CleaningRule;
}

/** What a command works with. */
export interface PerfSession {
  readonly perf: PerfStore;
  readonly config: InstanceConfig | undefined;
  readonly call: Call;
  /** This command has made the store. */
  readonly isNew: boolean;
}

/** Give a command the options of every command on a Perf store. */
export const withStore = (command: Command): Command =>
  withStoreOptions(command, 'perf').option('-c, --config <file>', 'config file of the instance, which names its store');

/** How a command opens its store. */
export interface OpenOptions {
  /** Make the store when there is none, with these settings. */
  readonly make?: { readonly tileSize?: number; readonly shards?: number };
  /** See `SessionRequest`; `rule` is how the store that would be made cleans params. */
  readonly isWorthMaking?: (rule: CleaningRule | undefined) => Promise<boolean>;
  /** Added to the message of an interrupted command. */
  readonly hint?: string;
}

/** Open the store, run `work`, close it. A store that does not exist is made only when `make` is given. */
export const withPerf = async (
  options: StoreOptions,
  work: (session: PerfSession) => Promise<void>,
  { make, isWorthMaking, hint }: OpenOptions = {},
): Promise<void> => {
  const config = options.config === undefined ? undefined : await readInstanceConfig(options.config);
  const rule = options.allowedChars ?? configuredRule(config);
  const request = {
    kind: 'perf',
    schema: PERF_SCHEMA,
    options,
    configured: config?.store,
    make: make !== undefined,
    isWorthMaking: isWorthMaking && (() => isWorthMaking(rule)),
    hint,
  } as const;
  await withTable(request, async (table, call, isNew) => {
    // What the config file says must be so; what it leaves out is up to the store.
    const { tileSize = config?.tileSize, shards = config?.shards } = make ?? {};
    const perf = await PerfStore.open(table, { tileSize, shards, rule, ...call });
    await work({ perf, config, call, isNew });
  });
};
