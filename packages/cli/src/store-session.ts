// What all commands on a store share: its location, how params are cleaned on their way into it, the deadline and Ctrl-C.
import {
  type CleaningRule,
  cleaningRule,
  DEFAULT_RULE,
  GOLD_SCHEMA,
  type InstanceConfig,
  openTable,
  PERF_SCHEMA,
  readInstanceConfig,
  storeExists,
  type TableSchema,
  TraceDbError,
  type WideColumnTable,
} from '@spanline/tracedb';
import { MAX_TILE_SIZE, MIN_TILE_SIZE } from '@spanline/tracedb/internal';
import { InvalidArgumentError } from 'commander';
import { options, type Values } from './command.js';
import { CommandError, ExitCode, interruptible } from './exit-code.js';
import { JSON_OPTION, wholeNumber } from './options.js';

/** For calls of the store. */
export interface Call {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** The kinds of stores, by the command that works on them. */
export type StoreKind = 'perf' | 'gold';

const variableOf = (kind: StoreKind): string => `SPANLINE_${kind.toUpperCase()}_STORE`;

/** The options that every command on a store has. */
export const storeOptions = (kind: StoreKind) =>
  options({
    store: ['-s, --store <place>', `directory or bigtable://project/instance/table (or ${variableOf(kind)})`],
    json: JSON_OPTION,
    deadline: ['--deadline <seconds>', 'give up a call of the store after so long', wholeNumber(1), 300],
    config: ['-c, --config <file>', 'config file of the instance, which names its store'],
  });

export type StoreOptions = Values<ReturnType<typeof storeOptions>> & Partial<Values<typeof CLEANING>>;

const SCHEMAS: Readonly<Record<StoreKind, TableSchema>> = { perf: PERF_SCHEMA, gold: GOLD_SCHEMA };

/** How a command opens its store. */
export interface OpenOptions<Settings extends object> {
  /** Create a missing store with these. Only for commands meant to create one: a mistyped directory must not become a store. */
  readonly make?: Settings;
  /**
   * Called before a store is created, with the rule by which it would clean params: false when nothing would be written, so that a failed
   * command leaves no empty store.
   */
  readonly isWorthMaking?: (rule: CleaningRule | undefined) => Promise<boolean>;
  /** Added to the message of an interrupted command. */
  readonly hint?: string;
}

/** What a command works with. */
export interface OpenedTable {
  readonly table: WideColumnTable;
  readonly config: InstanceConfig | undefined;
  /** How params are cleaned; undefined where neither option nor config file says it, which leaves the store its own rule. */
  readonly rule: CleaningRule | undefined;
  readonly call: Call;
  /** This command has made the store. */
  readonly isNew: boolean;
}

const locationOf = (kind: StoreKind, { store }: StoreOptions, config: InstanceConfig | undefined): string => {
  const location = store ?? config?.store ?? process.env[variableOf(kind)];
  if (location !== undefined && location !== '') return location;
  throw new CommandError(
    'ERR_SPANLINE_NO_STORE',
    `which store? Give --store DIR, --store bigtable://project/instance/table, --config FILE, or set ${variableOf(kind)}`,
    ExitCode.usage,
  );
};

/** Opens the table of a store that is at `location`; one that is missing is made only when `make` says so. */
export const openStore = (kind: StoreKind, location: string, make = false): Promise<WideColumnTable> =>
  openTable(location, { ...SCHEMAS[kind], make }).catch((cause: unknown) => {
    if (!(cause instanceof TraceDbError) || cause.code !== 'ERR_SPANLINE_NOT_FOUND') throw cause;
    // A missing store is a failure; a missing commit in a store would be an answer.
    const message = make
      ? cause.message
      : `there is no ${kind} store in ${location}; make one with: spanline ${kind} init --store ${location}`;
    throw new CommandError(cause.code, message, ExitCode.store, cause);
  });

/** Opens the table, runs `work`, closes the table. */
export const withTable = async (
  kind: StoreKind,
  options: StoreOptions,
  { make, isWorthMaking, hint }: OpenOptions<object>,
  work: (opened: OpenedTable) => Promise<void>,
): Promise<void> => {
  const config = options.config === undefined ? undefined : await readInstanceConfig(options.config);
  const rule = options.allowedChars ?? (config?.rule === DEFAULT_RULE ? undefined : config?.rule);
  const location = locationOf(kind, options, config);
  await interruptible(async (signal) => {
    const isNew = !(await storeExists(location));
    if (isNew && make !== undefined && (await isWorthMaking?.(rule)) === false) return;
    const table = await openStore(kind, location, make !== undefined);
    try {
      await work({ table, config, rule, call: { signal, deadlineMs: options.deadline * 1000 }, isNew });
    } finally {
      await table.close();
    }
  }, hint);
};

/** The inside of a character class, as a rule that cleans params. */
const allowedChars = (text: string): CleaningRule => {
  try {
    return cleaningRule(text);
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
};

/** The size of a tile, and when it is fixed. */
export const tileSize = (fixed: string) =>
  options({
    tileSize: [
      '--tile-size <commits>',
      `commits of a tile: ${fixed} (default 256)`,
      wholeNumber(MIN_TILE_SIZE, MAX_TILE_SIZE),
    ],
  });

/** The option that says how params are cleaned. */
export const CLEANING = options({
  allowedChars: [
    '--allowed-chars <class>',
    'characters params may have, such as "A-Za-z0-9._/-"; others become "_" (default: as the store was made)',
    allowedChars,
  ],
});
