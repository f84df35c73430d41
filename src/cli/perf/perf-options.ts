// What all `spanline perf` commands have in common: which store, how long, and as what the answer is printed.
import type { Command } from 'commander';
import {
  type InstanceConfig,
  openTable,
  PERF_SCHEMA,
  PerfStore,
  readInstanceConfig,
  storeExists,
} from '../../tracedb/index.js';
import { CommandError, ExitCode } from '../exit-code.js';
import { interruptible } from '../interrupt.js';
import { wholeNumber } from '../options.js';

/** Options of every command on a store. */
export interface StoreOptions {
  readonly store?: string;
  readonly config?: string;
  readonly json?: boolean;
  readonly deadline: number;
}

/** What a command works with. */
export interface PerfSession {
  readonly perf: PerfStore;
  readonly config: InstanceConfig | undefined;
  readonly signal: AbortSignal;
  /** For calls of the store. */
  readonly call: { readonly signal: AbortSignal; readonly deadlineMs: number };
}

/** Give a command the options of every command on a store. */
export const withStore = (command: Command): Command =>
  command
    .option('-s, --store <place>', 'directory or bigtable://project/instance/table (or SPANLINE_PERF_STORE)')
    .option('-c, --config <file>', 'config file of the instance, which names its store')
    .option('--json', 'print JSON')
    .option('--deadline <seconds>', 'give up a call of the store after so long', wholeNumber(1), 300);

const locationOf = ({ store }: StoreOptions, config: InstanceConfig | undefined): string => {
  const location = store ?? config?.store ?? process.env.SPANLINE_PERF_STORE;
  if (location !== undefined && location !== '') return location;
  throw new CommandError(
    'ERR_SPANLINE_NO_STORE',
    'which store? Give --store DIR, --store bigtable://project/instance/table, --config FILE, or set SPANLINE_PERF_STORE',
    ExitCode.usage,
  );
};

/** Settings that a new store is made with. */
export interface NewStore {
  readonly tileSize?: number;
  readonly shards?: number;
}

/**
 * Open the store, run `work`, close it. A store that does not exist is made only when `make` is given: a mistyped directory
 * must not become an empty store.
 */
export const withPerf = async (
  options: StoreOptions,
  work: (session: PerfSession) => Promise<void>,
  make?: NewStore,
): Promise<void> => {
  const config = options.config === undefined ? undefined : await readInstanceConfig(options.config);
  const location = locationOf(options, config);
  await interruptible(async (signal) => {
    const call = { signal, deadlineMs: options.deadline * 1000 };
    if (make === undefined && !(await storeExists(location))) {
      throw new CommandError(
        'ERR_SPANLINE_NOT_FOUND',
        `there is no store in ${location}; make one with: spanline perf init --store ${location}`,
        ExitCode.store,
      );
    }
    const table = await openTable(location, PERF_SCHEMA);
    try {
      const { tileSize = config?.tileSize, shards = config?.shards } = make ?? {};
      const perf = await PerfStore.open(table, { tileSize, shards, rule: config?.rule, ...call });
      await work({ perf, config, signal, call });
    } finally {
      await table.close();
    }
  });
};

/** One JSON document and a line break. */
export const printJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
};
