// What all commands on a store share: its location, the deadline, Ctrl-C, and the form of the output.

import { once } from 'node:events';
import type { Command } from 'commander';
import { escapeText } from '../base/text/escape-text.js';
import { openTable, storeExists, type TableSchema, TraceDbError, type WideColumnTable } from '../tracedb/index.js';
import { throwIfOutputClosed } from './closed-output.js';
import { CommandError, ExitCode } from './exit-code.js';
import { interruptible } from './interrupt.js';
import { wholeNumber } from './options.js';

/** Options of every command on a store. */
export interface StoreOptions {
  readonly store?: string;
  readonly json?: boolean;
  /** Seconds. */
  readonly deadline: number;
}

/** For calls of the store. */
export interface Call {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
}

/** The kinds of stores, by the command that works on them. */
export type StoreKind = 'perf' | 'gold';

const variableOf = (kind: StoreKind): string => `SPANLINE_${kind.toUpperCase()}_STORE`;

/** Adds the options that every command on a store has. */
export const withStoreOptions = (command: Command, kind: StoreKind): Command =>
  command
    .option('-s, --store <place>', `directory or bigtable://project/instance/table (or ${variableOf(kind)})`)
    .option('--json', 'print JSON')
    .option('--deadline <seconds>', 'give up a call of the store after so long', wholeNumber(1), 300);

/** What a session is opened with. */
export interface SessionRequest {
  readonly kind: StoreKind;
  readonly schema: TableSchema;
  readonly options: StoreOptions;
  /** Location of the store when no option gives one. */
  readonly configured?: string;
  /** Create a missing store. Only for commands meant to create one: a mistyped directory must not become a store. */
  readonly make: boolean;
  /** Called before a store is created: false when nothing would be written, so that a failed command leaves no empty store. */
  readonly isWorthMaking?: () => Promise<boolean>;
  /** Added to the message of an interrupted command. */
  readonly hint?: string;
}

const locationOf = ({ kind, options, configured }: SessionRequest): string => {
  const location = options.store ?? configured ?? process.env[variableOf(kind)];
  if (location !== undefined && location !== '') return location;
  const places = [
    '--store DIR',
    '--store bigtable://project/instance/table',
    ...(kind === 'perf' ? ['--config FILE'] : []),
  ];
  throw new CommandError(
    'ERR_SPANLINE_NO_STORE',
    `which store? Give ${places.join(', ')}, or set ${variableOf(kind)}`,
    ExitCode.usage,
  );
};

/** Opens the table, runs `work`, closes the table. `isNew`: this command created it. */
export const withTable = async (
  request: SessionRequest,
  work: (table: WideColumnTable, call: Call, isNew: boolean) => Promise<void>,
): Promise<void> => {
  const { kind, schema, options, make, isWorthMaking, hint } = request;
  const location = locationOf(request);
  await interruptible(async (signal) => {
    const isNew = !(await storeExists(location));
    if (isNew && make && (await isWorthMaking?.()) === false) return;
    const table = await openTable(location, { ...schema, make }).catch((cause: unknown) => {
      if (!(cause instanceof TraceDbError) || cause.code !== 'ERR_SPANLINE_NOT_FOUND') throw cause;
      // A missing store is a failure; a missing commit in a store would be an answer.
      const message = make
        ? cause.message
        : `there is no ${kind} store in ${location}; make one with: spanline ${kind} init --store ${location}`;
      throw new CommandError(cause.code, message, ExitCode.store, { cause });
    });
    try {
      await work(table, { signal, deadlineMs: options.deadline * 1000 }, isNew);
    } finally {
      await table.close();
    }
  }, hint);
};

/** Prints a note, which is not part of the answer, to standard error. */
export const note = (text: string): void => {
  process.stderr.write(`spanline: ${escapeText(text)}\n`);
};

/** One JSON document and a line break. */
export const printJson = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
};

/** Writes to stdout at the speed of its reader; ends the command once the reader is gone. */
export const writeOut = async (text: string): Promise<void> => {
  throwIfOutputClosed();
  // A closed pipe never drains; it emits an error instead.
  if (!process.stdout.write(text)) await once(process.stdout, 'drain').catch(throwIfOutputClosed);
};
