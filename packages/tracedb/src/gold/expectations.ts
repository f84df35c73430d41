// Expectations: per test and digest untriaged, positive or negative, with who and when, and the changes that led there. Two people who triage one
// digest at once must both be in its history: now and past are in one row and change together, on condition that nobody else changed them. Text that
// this package did not write must be an error, never a digest that looks untriaged.

import { chunks, inParallel, oneOf, timers } from 'spanline/internal/base';
import { CallDeadline, retryConflicts } from '../params/call-deadline.js';
import { changeRowIfSame, setCell, valueOfJson } from '../table/cells.js';
import type { CallOptions, Cell, Mutation, WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput, storeCorrupt } from '../tracedb-error.js';
import {
  EXPECTATION_FAMILY,
  expectationsPrefix,
  expectationsRowKey,
  GOLD_SHARDS,
  HISTORY_FAMILY,
} from './gold-keys.js';
import { readShards } from './merge-streams.js';
import { checkDigest, type Time, textIn, toMs } from './values.js';

/** What is thought of a digest: nothing yet, right, or wrong. */
export type TriageStatus = 'untriaged' | 'positive' | 'negative';

export const TRIAGE_STATUSES: readonly TriageStatus[] = ['untriaged', 'positive', 'negative'];

/** The status of a digest of a test, and who set it; of an untriaged one nobody may have. */
export interface Expectation {
  readonly status: TriageStatus;
  readonly by?: string;
  /** Unix milliseconds. */
  readonly atMs?: number;
  readonly note?: string;
}

/** One change of a status. */
export interface ExpectationChange {
  readonly from: TriageStatus;
  readonly to: TriageStatus;
  readonly by: string;
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly note?: string;
}

/** The status of a digest that nobody said anything of. */
const UNTRIAGED: Expectation = Object.freeze({ status: 'untriaged' });

/** Changes of one digest that are kept; older ones are forgotten. */
const MAX_HISTORY = 100;

/** An expectation as a cell has it: its revision makes two cells of equal content differ. */
interface StoredExpectation extends Expectation {
  readonly revision: number;
}

const isStatus = (value: unknown): value is TriageStatus => TRIAGE_STATUSES.includes(value as TriageStatus);

const isExpectation = (value: unknown): value is StoredExpectation =>
  isStatus((value as StoredExpectation | null)?.status) && Number.isSafeInteger((value as StoredExpectation).revision);

const isHistory = (value: unknown): value is ExpectationChange[] =>
  Array.isArray(value) && value.every((change) => isStatus(change?.from) && isStatus(change?.to));

const parse = <T>(value: Uint8Array, is: (value: unknown) => value is T, where: string): T => {
  const parsed = valueOfJson(value);
  if (is(parsed)) return parsed;
  throw storeCorrupt(`${where} holds no expectation; restore it from a backup`);
};

const parseExpectation = (value: Uint8Array, where: string): StoredExpectation => parse(value, isExpectation, where);

/** Oldest change first. */
const parseHistory = (value: Uint8Array, where: string): ExpectationChange[] => parse(value, isHistory, where);

/** Without what only the cell needs. */
const publicExpectation = ({ revision: _, ...expectation }: StoredExpectation): Expectation => expectation;

const ROWS_PER_READ = 100;
const READS_AT_ONCE = 8;
const WRITES_AT_ONCE = 32;
const MAX_NAME = 1024;

/** A digest of a test. */
export interface TestDigest {
  readonly test: string;
  readonly digest: string;
}

/** What to say of a digest. */
export interface Triage extends TestDigest {
  readonly status: TriageStatus;
}

/** Who says it. */
export interface TriageOptions extends CallOptions {
  /** 1 to 256 characters. */
  readonly by: string;
  /** At most 1,000 characters. */
  readonly note?: string;
  /** Default: now. */
  readonly time?: Time;
}

/** Status of each digest of some tests. */
export type StatusOf = (test: string, digest: string) => TriageStatus;

/**
 * What people said of digests; `GoldStore` has one as `expectations`.
 *
 * @example
 * ```ts
 * import { GOLD_SCHEMA, GoldStore, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./gold-triaged', GOLD_SCHEMA);
 * const { expectations } = await GoldStore.open(table);
 * const digest = '0cc175b9c0f1b6a831c399e269772661';
 * await expectations.triage([{ test: 'circle', digest, status: 'positive' }], { by: 'ada' });
 * console.assert((await expectations.get('circle', digest)).status === 'positive');
 * await table.close();
 * ```
 */
export class Expectations {
  readonly #table: WideColumnTable;
  readonly #digestDigits: number;
  readonly #clock: () => number;

  /** `clock` gives Unix milliseconds. */
  constructor(table: WideColumnTable, digestDigits: number, clock: () => number = timers.wallMs) {
    this.#table = table;
    this.#digestDigits = digestDigits;
    this.#clock = clock;
  }

  /**
   * Set the status of digests; resolves to the number that changed. A status that is set already stays with who set it. Rejects with
   * `ERR_SPANLINE_INVALID_INPUT` before anything is written; after another error some may be set, and setting all again is right.
   */
  async triage(
    changes: readonly Triage[],
    { by, note, time = this.#clock(), ...call }: TriageOptions,
  ): Promise<number> {
    textIn('by', by, 1, 256);
    if (note !== undefined) textIn('note', note, 0, 1000);
    const said = { by, atMs: toMs('time', time), ...(note !== undefined && { note }) };
    // Of two of one digest the last counts, whatever order the writes take.
    const wanted = new Map<string, Triage>();
    for (const change of changes) {
      this.#check(change);
      oneOf('status', change.status, TRIAGE_STATUSES, invalidInput);
      wanted.set(JSON.stringify([change.test, change.digest]), change);
    }
    const deadline = new CallDeadline(`triaging ${changes.length} digests`, call);
    let changed = 0;
    await inParallel(wanted.values(), WRITES_AT_ONCE, async (change) => {
      if (await this.#set(change, said, deadline)) changed++;
    });
    return changed;
  }

  /** The current status of one digest. */
  async get(test: string, digest: string, options?: CallOptions): Promise<Expectation> {
    this.#check({ test, digest });
    const cell = await this.#cell(EXPECTATION_FAMILY, test, digest, options);
    return cell === undefined ? UNTRIAGED : publicExpectation(parseExpectation(cell.value, whereIs(test, digest)));
  }

  /** The last 100 changes of one digest, newest first. */
  async history(test: string, digest: string, options?: CallOptions): Promise<readonly ExpectationChange[]> {
    this.#check({ test, digest });
    const cell = await this.#cell(HISTORY_FAMILY, test, digest, options);
    return cell === undefined ? [] : parseHistory(cell.value, whereIs(test, digest)).reverse();
  }

  /** The status of every digest of these tests, read at once; one that nobody triaged is untriaged. */
  async statuses(tests: Iterable<string>, options?: CallOptions): Promise<StatusOf> {
    const deadline = new CallDeadline('reading expectations', options);
    const testOfRow = new Map<string, string>();
    for (const test of tests) testOfRow.set(expectationsRowKey(textIn('test', test, 1, MAX_NAME)), test);
    const found = new Map<string, Map<string, TriageStatus>>();
    await inParallel(chunks([...testOfRow.keys()], ROWS_PER_READ), READS_AT_ONCE, async (keys) => {
      const read = this.#table.readRows({ keys }, { ...deadline.next(), families: [EXPECTATION_FAMILY] });
      for await (const rows of read) {
        for (const { key, cells } of rows) {
          const test = testOfRow.get(key) as string;
          const status = (cell: Cell) => parseExpectation(cell.value, whereIs(test, cell.qualifier)).status;
          found.set(test, new Map(cells.map((cell) => [cell.qualifier, status(cell)])));
        }
      }
    });
    return (test, digest) => found.get(test)?.get(digest) ?? 'untriaged';
  }

  /** Everything that was ever said, as it is now: a batch of tests at a time, in no order. */
  async *all(options?: CallOptions): AsyncGenerator<readonly (TestDigest & Expectation)[], void, undefined> {
    const deadline = new CallDeadline('listing the expectations', options);
    const read = { families: [EXPECTATION_FAMILY] };
    for await (const rows of readShards(this.#table, expectationsPrefix, read, READS_AT_ONCE, deadline)) {
      yield rows.flatMap(({ key, cells }) => {
        const test = key.slice(expectationsPrefix(GOLD_SHARDS[0]).length);
        return cells.map(({ qualifier: digest, value }) => ({
          test,
          digest,
          ...publicExpectation(parseExpectation(value, whereIs(test, digest))),
        }));
      });
    }
  }

  #set(
    { test, digest, status }: Triage,
    said: { readonly by: string; readonly atMs: number; readonly note?: string },
    deadline: CallDeadline,
  ): Promise<boolean> {
    const key = expectationsRowKey(test);
    const where = whereIs(test, digest);
    const families = [EXPECTATION_FAMILY, HISTORY_FAMILY];
    return retryConflicts(
      where,
      async () => {
        const row = await this.#table.readRow(key, { ...deadline.next(), families, qualifiers: [digest] });
        const now = row?.cells.find(({ family }) => family === EXPECTATION_FAMILY);
        const past = row?.cells.find(({ family }) => family === HISTORY_FAMILY);
        const old = now === undefined ? undefined : parseExpectation(now.value, where);
        const from = old?.status ?? 'untriaged';
        if (from === status) return false;
        const next: StoredExpectation = { status, ...said, revision: (old?.revision ?? 0) + 1 };
        const history = past === undefined ? [] : parseHistory(past.value, where);
        const change: ExpectationChange = { from, to: status, ...said };
        // `time` is what a person says; the order of the cells is the table's own, or a skewed clock would undo this.
        const timestampMs = Math.max(this.#clock(), 1 + Math.max(-1, now?.timestampMs ?? -1, past?.timestampMs ?? -1));
        const set = (family: string, value: unknown): Mutation =>
          setCell(family, digest, JSON.stringify(value), timestampMs);
        const mutations = [
          set(EXPECTATION_FAMILY, next),
          set(HISTORY_FAMILY, [...history, change].slice(-MAX_HISTORY)),
        ];
        const was = { family: EXPECTATION_FAMILY, qualifier: digest, value: now?.value };
        return (await changeRowIfSame(this.#table, key, was, mutations, deadline.next())) || undefined;
      },
      deadline,
    );
  }

  async #cell(family: string, test: string, digest: string, options?: CallOptions): Promise<Cell | undefined> {
    const read = { ...options, families: [family], qualifiers: [digest] };
    return (await this.#table.readRow(expectationsRowKey(test), read))?.cells[0];
  }

  #check({ test, digest }: TestDigest): void {
    textIn('test', test, 1, MAX_NAME);
    checkDigest(digest, this.#digestDigits, `test ${JSON.stringify(test)}`);
  }
}

const whereIs = (test: string, digest: string): string =>
  `the expectation of digest ${digest} of test ${JSON.stringify(test)}`;
