// Ignore rules: queries whose traces are known to be wrong for a while. A rule must end by itself, so each has a time after which it
// no longer applies, and none may match everything.
import { randomBytes } from 'node:crypto';
import { timers } from 'spanline/internal/base';
import { CallDeadline, retryConflicts } from '../params/call-deadline.js';
import type { Params } from '../params/param-text.js';
import { compileQuery, parseQuery, type Query } from '../query/query.js';
import { changeRowIfSame, setCell, textOf, valueOfJson } from '../table/cells.js';
import type { CallOptions, Mutation, Row, WideColumnTable } from '../table/wide-column-table.js';
import { invalidInput, storeCorrupt, TraceDbError, tableLimit } from '../tracedb-error.js';
import { IGNORE_COLUMN, IGNORE_FAMILY, IGNORE_REVISION_COLUMN, IGNORE_ROWS_PREFIX, ignoreRowKey } from './gold-keys.js';
import { type Time, textIn, toMs } from './values.js';

/** Rules of one store, expired ones too. */
const MAX_IGNORE_RULES = 10_000;
const MAX_QUERY = 10_000;
const ID = /^[0-9a-f]{16}$/;

/** What a rule says. */
export interface IgnoreRuleInput {
  /** As `parseQuery` reads it; over the params and options of a trace. Not empty, at most 10,000 characters. */
  readonly query: string;
  /** From then on the rule does not apply. */
  readonly expires: Time;
  /** Why; at most 1,000 characters. */
  readonly note?: string;
  /** Who says it, 1 to 256 characters. */
  readonly by: string;
}

/** A rule as the store has it. */
export interface IgnoreRule {
  /** 16 hex digits. */
  readonly id: string;
  readonly query: string;
  /** Unix milliseconds. */
  readonly expiresMs: number;
  readonly note: string;
  /** Who changed it last. */
  readonly by: string;
  /** Unix milliseconds. */
  readonly createdMs: number;
}

/** The first rule that applies to a trace, by its params and options. */
export type IgnoreMatcher = (params: Params) => IgnoreRule | undefined;

/**
 * Which traces searches leave out; `GoldStore` has one as `ignores`.
 *
 * @example
 * ```ts
 * import { GOLD_SCHEMA, GoldStore, openTable } from '@spanline/tracedb';
 *
 * const table = await openTable('./gold-ignores', GOLD_SCHEMA);
 * const { ignores } = await GoldStore.open(table);
 * const week = 7 * 24 * 3600 * 1000;
 * const rule = await ignores.create({ query: 'gpu=mali', expires: Date.now() + week, by: 'ada', note: 'driver update' });
 * const matches = await ignores.matcher();
 * console.assert(matches({ gpu: 'mali' })?.id === rule.id);
 * await table.close();
 * ```
 */
export class IgnoreRules {
  readonly #table: WideColumnTable;
  readonly #clock: () => number;

  /** `clock` gives Unix milliseconds. */
  constructor(table: WideColumnTable, clock: () => number = timers.wallMs) {
    this.#table = table;
    this.#clock = clock;
  }

  /** Add a rule. Rejects with `ERR_SPANLINE_INVALID_INPUT`, and with `ERR_SPANLINE_TABLE_LIMIT` beyond 10,000 rules. */
  async create(input: IgnoreRuleInput, options?: CallOptions): Promise<IgnoreRule> {
    const deadline = new CallDeadline('adding an ignore rule', options);
    const rule = await makeRule(randomBytes(8).toString('hex'), input, this.#clock());
    if ((await this.list(deadline.next())).length >= MAX_IGNORE_RULES) {
      throw tableLimit(`${this.#table.location} has ${MAX_IGNORE_RULES} ignore rules; delete expired ones first`);
    }
    await this.#table.mutateRows(
      [{ key: ignoreRowKey(rule.id), mutations: setRule(rule, 1, rule.createdMs) }],
      deadline.next(),
    );
    return rule;
  }

  /** Replace what a rule says. Rejects with `ERR_SPANLINE_NOT_FOUND` when it does not exist or was deleted meanwhile. */
  async update(id: string, input: IgnoreRuleInput, options?: CallOptions): Promise<IgnoreRule> {
    const key = rowOf(id);
    const deadline = new CallDeadline(`changing ignore rule ${id}`, options);
    return retryConflicts(
      `ignore rule ${id}`,
      async () => {
        const row = await this.#table.readRow(key, { ...deadline.next(), families: [IGNORE_FAMILY] });
        if (row === undefined) {
          throw new TraceDbError('ERR_SPANLINE_NOT_FOUND', `ignore rule ${id} does not exist; list the rules`);
        }
        const { rule: old, revision, timestampMs } = parseRule(row);
        const rule = await makeRule(id, input, old.createdMs);
        // By its revision, since a filter of the store has less room than a rule may take.
        const was = { family: IGNORE_FAMILY, qualifier: IGNORE_REVISION_COLUMN, value: String(revision) };
        const change = setRule(rule, revision + 1, Math.max(this.#clock(), timestampMs + 1));
        const isChanged = await changeRowIfSame(this.#table, key, was, change, deadline.next());
        return isChanged ? rule : undefined;
      },
      deadline,
    );
  }

  /** Delete a rule; false when it did not exist. */
  async delete(id: string, options?: CallOptions): Promise<boolean> {
    const predicate = { family: IGNORE_FAMILY, qualifier: IGNORE_COLUMN };
    // biome-ignore lint/suspicious/noThenProperty: the table's word for it; a list of mutations is not thenable
    return this.#table.checkAndMutateRow(rowOf(id), predicate, { then: [{ type: 'delete-row' }] }, options);
  }

  /** All rules, expired ones too, oldest first. */
  async list(options?: CallOptions): Promise<readonly IgnoreRule[]> {
    const rules: IgnoreRule[] = [];
    const read = { ...options, families: [IGNORE_FAMILY] };
    for await (const rows of this.#table.readRows({ prefix: IGNORE_ROWS_PREFIX }, read)) {
      for (const row of rows) rules.push(parseRule(row).rule);
    }
    return rules.sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
  }

  /**
   * What tells whether a rule that is not expired at `at` (now) applies to a trace. Made once, it does not see later changes.
   * `adapt` is given each rule's query and may replace it by what its traces know.
   */
  async matcher(
    at: Time = this.#clock(),
    options?: CallOptions,
    adapt: (query: Query) => Query = (query) => query,
  ): Promise<IgnoreMatcher> {
    const atMs = toMs('at', at);
    const rules = (await this.list(options)).filter(({ expiresMs }) => expiresMs > atMs);
    const tests = await Promise.all(
      rules.map(async (rule) => ({ rule, matches: await compileQuery(adapt(parseQuery(rule.query))) })),
    );
    return (params) => tests.find(({ matches }) => matches(params))?.rule;
  }
}

const makeRule = async (
  id: string,
  { query, expires, note = '', by }: IgnoreRuleInput,
  createdMs: number,
): Promise<IgnoreRule> => {
  const parsed = parseQuery(textIn('query', query, 1, MAX_QUERY));
  if (parsed.parts.length === 0) throw invalidInput('an ignore rule must not match every trace; give its query a key');
  // A pattern that no engine takes must not be found by the search that meets the rule.
  await compileQuery(parsed);
  return {
    id,
    query,
    expiresMs: toMs('expires', expires),
    note: textIn('note', note, 0, 1000),
    by: textIn('by', by, 1, 256),
    createdMs,
  };
};

const rowOf = (id: string): string => {
  if (typeof id === 'string' && ID.test(id)) return ignoreRowKey(id);
  throw invalidInput(`the id of an ignore rule is 16 hex digits, not ${JSON.stringify(id)}`);
};

const setRule = (rule: IgnoreRule, revision: number, timestampMs: number): Mutation[] => [
  setCell(IGNORE_FAMILY, IGNORE_COLUMN, JSON.stringify(rule), timestampMs),
  setCell(IGNORE_FAMILY, IGNORE_REVISION_COLUMN, String(revision), timestampMs),
];

const parseRule = ({
  key,
  cells,
}: Row): { readonly rule: IgnoreRule; readonly revision: number; readonly timestampMs: number } => {
  const rule = valueOfJson(textOf(cells, IGNORE_COLUMN)) as Partial<IgnoreRule> | null | undefined;
  const revision = Number(textOf(cells, IGNORE_REVISION_COLUMN));
  const isRule =
    typeof rule?.query === 'string' && typeof rule.expiresMs === 'number' && key === ignoreRowKey(rule.id ?? '');
  if (!isRule || !Number.isSafeInteger(revision) || revision < 1) {
    throw storeCorrupt(`row ${key} holds no ignore rule; delete it`);
  }
  return { rule: rule as IgnoreRule, revision, timestampMs: Math.max(...cells.map((cell) => cell.timestampMs)) };
};
