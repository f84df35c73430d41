// Turns a query into the index entries of one tile that have to be read. It must not call the tile empty unless no trace in it
// can meet the query, and must not hold up the event loop, however many values a pattern has to be tried on.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CallDeadline } from '../params/call-deadline.js';
import type { OrderedParamSet } from '../params/ordered-param-set.js';
import { type CleaningRule, DEFAULT_RULE, quoted } from '../params/param-text.js';
import type { CallOptions } from '../table/wide-column-table.js';
import { didYouMean, fitQuery, type KnownParams } from './known-query.js';
import { hasPatterns, makeQuery, type Query, type QueryPart } from './query.js';
import { compileRegex, type LinearRegex } from './regex.js';

// Steps of the regular expressions between two turns of the event loop, about 10 ms.
const STEPS_A_TURN = 250_000;

/** A value and its place in the tile's ordered param set. */
export interface PlannedValue {
  readonly value: string;
  readonly valueIndex: number;
}

/** A trace must have one of these values, ascending by place and without duplicates; there is at least one. */
export interface PlannedCondition {
  readonly key: string;
  readonly keyIndex: number;
  /** Number of values that the tile has for the key: with `values`, the best guess at the number of traces that meet the condition. */
  readonly known: number;
  readonly values: readonly PlannedValue[];
}

/** Nothing to read: no trace of the tile can meet the query. */
export interface EmptyPlan {
  readonly kind: 'empty';
  /** What of the query no trace of the tile meets. */
  readonly unmet: string;
  /** `unmet` and the names that are spelt nearly so. Those are looked for when it is first read: most tiles of a long history are empty for some query. */
  readonly reason: string;
}

const emptyPlan = (unmet: string, hintOf: () => string): EmptyPlan => {
  let reason: string | undefined;
  return {
    kind: 'empty',
    unmet,
    get reason() {
      reason ??= unmet + hintOf();
      return reason;
    },
  };
};

/** What to read of one tile. */
export type Plan =
  | EmptyPlan
  /** Every trace of the tile. */
  | { readonly kind: 'all' }
  /** The traces that meet all conditions, of which the one with the fewest values comes first. */
  | { readonly kind: 'select'; readonly conditions: readonly PlannedCondition[] };

const indexed = (ops: OrderedParamSet, key: string, values: readonly string[]): readonly PlannedValue[] =>
  values
    .map((value) => ({ value, valueIndex: ops.valueIndex(key, value) }))
    .filter(({ valueIndex }) => valueIndex >= 0)
    .sort((a, b) => a.valueIndex - b.valueIndex);

const SAID: Readonly<Record<QueryPart['kind'], string>> = {
  'one-of': 'is one of',
  'not-one-of': 'is other than',
  'has-key': 'is there',
  matches: 'matches',
  'not-matches': 'does not match',
};

const nothingLeft = ({ key, kind, values }: QueryPart, ops: OrderedParamSet): EmptyPlan => {
  const some = values.slice(0, 3).map(quoted);
  if (values.length > some.length) some.push('...');
  const isWanted = kind === 'one-of' || kind === 'matches';
  return emptyPlan(`no value of ${quoted(key)} in this tile ${SAID[kind]} ${some.join(', ')}`, () =>
    isWanted ? didYouMean(values[0] as string, ops.values(key)) : '',
  );
};

const knownOf = (ops: OrderedParamSet): KnownParams => ({
  keys: () => ops.keys,
  values: (key) => ops.values(key),
  has: (key, value) => (value === undefined ? ops.keyIndex(key) : ops.valueIndex(key, value)) >= 0,
});

/** The values in which one of the patterns is found (or, for `wanted` false, none). */
const filterByPattern = async (
  values: readonly string[],
  regexes: readonly LinearRegex[],
  wanted: boolean,
  deadline: CallDeadline,
): Promise<readonly string[]> => {
  const found: string[] = [];
  let steps = 0;
  for (const value of values) {
    let hit = false;
    for (const regex of regexes) {
      steps += (value.length + 1) * regex.programSize;
      if (steps > STEPS_A_TURN) {
        await nextTurn();
        deadline.check();
        steps = 0;
      }
      hit = regex.test(value);
      if (hit) break;
    }
    if (hit === wanted) found.push(value);
  }
  return found;
};

const selectValues = async (
  part: QueryPart,
  ops: OrderedParamSet,
  regexes: readonly LinearRegex[],
  deadline: CallDeadline,
): Promise<readonly string[]> => {
  const known = ops.values(part.key);
  switch (part.kind) {
    case 'one-of':
      return part.values;
    case 'has-key':
      return known;
    case 'not-one-of': {
      const refused = new Set(part.values);
      return known.filter((value) => !refused.has(value));
    }
    case 'matches':
    case 'not-matches':
      return filterByPattern(known, regexes, part.kind === 'matches', deadline);
  }
};

const byCost = (a: PlannedCondition, b: PlannedCondition): number =>
  a.values.length - b.values.length || a.keyIndex - b.keyIndex;

/** How a query is planned. */
export interface PlanOptions extends CallOptions {
  /** How the params of the tile were cleaned: an unknown key or value is looked for as this writes it. Default `DEFAULT_RULE`. */
  readonly rule?: CleaningRule;
}

/**
 * What has to be read of the tile with this ordered param set to answer the query. A key or value that the tile has not as it stands,
 * but as cleaning writes it, means that one. Rejects with `ERR_SPANLINE_INVALID_INPUT` for a
 * pattern that is malformed or too large, whatever the tile holds, and with `ERR_SPANLINE_ABORTED` or `ERR_SPANLINE_DEADLINE` when the caller
 * does not want to wait any longer.
 *
 * @example
 * ```ts
 * import { OrderedParamSet, ParamSet, parseQuery, planQuery } from '@spanline/tracedb';
 * const ops = OrderedParamSet.empty.with(ParamSet.from({ arch: ['arm', 'x86'], config: ['8888'] }));
 * const plan = await planQuery(parseQuery('arch=!x86'), ops);
 * console.assert(plan.kind === 'select' && plan.conditions[0].values[0].value === 'arm');
 * ```
 */
export const planQuery = async (
  query: Query,
  ops: OrderedParamSet,
  { rule = DEFAULT_RULE, ...options }: PlanOptions = {},
): Promise<Plan> => {
  const deadline = new CallDeadline('planning a query', options);
  deadline.check();
  const { parts } = fitQuery(makeQuery(query.parts), knownOf(ops), rule);
  if (parts.length === 0) return { kind: 'all' };
  const regexes = new Map<QueryPart, readonly LinearRegex[]>();
  for (const part of parts) {
    if (!hasPatterns(part.kind)) continue;
    const compiled: LinearRegex[] = [];
    for (const pattern of part.values) compiled.push(await compileRegex(pattern));
    regexes.set(part, compiled);
  }
  const conditions: PlannedCondition[] = [];
  for (const part of parts) {
    const { key } = part;
    const keyIndex = ops.keyIndex(key);
    if (keyIndex < 0) {
      return emptyPlan(`no trace of this tile has the key ${quoted(key)}`, () => didYouMean(key, ops.keys));
    }
    const values = indexed(ops, key, await selectValues(part, ops, regexes.get(part) ?? [], deadline));
    if (values.length === 0) return nothingLeft(part, ops);
    conditions.push({ key, keyIndex, known: ops.values(key).length, values });
  }
  return { kind: 'select', conditions: conditions.sort(byCost) };
};
