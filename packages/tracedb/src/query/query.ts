// What a query is, whoever wrote it, and what it means for the params of one trace, as plainly as possible. Parts are sorted by key and values are
// sorted and unique, so that two texts of one meaning are one query; a query must never be larger than the limits here, since users send them. The
// planned query must select exactly the traces that `compileQuery` selects, which must share no code with the plan: the plan is tested against it.
import { checkKey, checkValue, type Params, quoted } from '../params/param-text.js';
import { invalidInput } from '../tracedb-error.js';
import { checkPattern, compileRegex } from './regex.js';

/** Keys of a query. */
const MAX_QUERY_PARTS = 100;
/** Values and patterns of all keys of a query together. */
const MAX_QUERY_VALUES = 10_000;
/** Patterns of all keys of a query together: each is tried on every value of its key, and caches up to 8 MB of states. */
const MAX_QUERY_PATTERNS = 20;

/** A condition on one key. Every kind needs the trace to have the key, the negations too. */
export interface QueryPart {
  readonly key: string;
  readonly kind: 'one-of' | 'not-one-of' | 'has-key' | 'matches' | 'not-matches';
  /** Values; for `matches` and `not-matches` patterns that are found anywhere in a value; none for `has-key`. */
  readonly values: readonly string[];
}

/** Which traces are meant: those that meet every part. No part at all means every trace. */
export interface Query {
  readonly parts: readonly QueryPart[];
}

export const hasPatterns = (kind: QueryPart['kind']): boolean => kind === 'matches' || kind === 'not-matches';

const checkPart = ({ key, kind, values }: QueryPart): void => {
  checkKey(key);
  if (kind === 'has-key') {
    if (values.length > 0) throw invalidInput(`query key ${quoted(key)}: has-key takes no values; use one-of`);
    return;
  }
  if (values.length === 0) {
    throw invalidInput(`query key ${quoted(key)} has no value; give it one, or leave the key out`);
  }
  for (const value of values) {
    if (hasPatterns(kind)) checkPattern(value);
    else checkValue(key, value);
  }
};

const byKey = (a: QueryPart, b: QueryPart): number => Number(a.key > b.key) - Number(a.key < b.key);

/**
 * The query with these parts, each key at most once; use it where conditions do not come as text. Throws
 * `ERR_SPANLINE_INVALID_INPUT` for a key that occurs twice, a part without values, and beyond 100 keys, 10,000 values or 20
 * patterns.
 *
 * @example
 * ```ts
 * import { formatQuery, makeQuery } from '@spanline/tracedb';
 * const query = makeQuery([{ key: 'arch', kind: 'not-one-of', values: ['x86', 'arm'] }]);
 * console.assert(formatQuery(query) === 'arch=!arm&arch=!x86');
 * ```
 */
export const makeQuery = (parts: readonly QueryPart[]): Query => {
  const sorted = parts.map(({ key, kind, values }) => ({ key, kind, values: [...new Set(values)].sort() })).sort(byKey);
  let values = 0;
  let patterns = 0;
  for (const [i, part] of sorted.entries()) {
    checkPart(part);
    if (part.key === sorted[i - 1]?.key)
      throw invalidInput(`query key ${quoted(part.key)} occurs in two parts; make it one`);
    values += part.values.length;
    if (hasPatterns(part.kind)) patterns += part.values.length;
  }
  if (sorted.length > MAX_QUERY_PARTS) {
    throw invalidInput(
      `a query with ${sorted.length} keys; the limit is ${MAX_QUERY_PARTS}: ask for fewer keys at once`,
    );
  }
  if (values > MAX_QUERY_VALUES) {
    throw invalidInput(
      `a query with ${values} values; the limit is ${MAX_QUERY_VALUES}: use a pattern, or several queries`,
    );
  }
  if (patterns > MAX_QUERY_PATTERNS) {
    throw invalidInput(`a query with ${patterns} patterns; the limit is ${MAX_QUERY_PATTERNS}: join them with |`);
  }
  return { parts: sorted };
};

/**
 * The query for traces that have, for each key, one of the given values, taken literally; use it for values a user picked from a
 * param set. Throws `ERR_SPANLINE_INVALID_INPUT` as `makeQuery` does.
 *
 * @example
 * ```ts
 * import { formatQuery, queryFromParams } from '@spanline/tracedb';
 * console.assert(formatQuery(queryFromParams({ arch: 'x86', config: ['565', '8888'] })) === 'arch=x86&config=565&config=8888');
 * ```
 */
export const queryFromParams = (params: Readonly<Record<string, string | readonly string[]>>): Query =>
  makeQuery(
    Object.entries(params).map(([key, values]) => ({
      key,
      kind: 'one-of',
      values: typeof values === 'string' ? [values] : values,
    })),
  );

type Test = (value: string) => boolean;

const compilePart = async ({ kind, values }: QueryPart): Promise<Test> => {
  switch (kind) {
    case 'has-key':
      return () => true;
    case 'one-of':
      return (value) => values.includes(value);
    case 'not-one-of':
      return (value) => !values.includes(value);
    case 'matches':
    case 'not-matches': {
      const regexes = await Promise.all(values.map(compileRegex));
      return (value) => regexes.some((regex) => regex.test(value)) === (kind === 'matches');
    }
  }
};

/**
 * A function that tells whether a trace with these params meets the query; use it for lists that fit in memory, such as filtering
 * results. Rejects with `ERR_SPANLINE_INVALID_INPUT` for a pattern that is malformed or too large.
 *
 * @example
 * ```ts
 * import { compileQuery, parseQuery } from '@spanline/tracedb';
 * const matches = await compileQuery(parseQuery('arch=!x86&config=*'));
 * console.assert(matches({ arch: 'arm', config: '8888' }) && !matches({ arch: 'arm' }));
 * ```
 */
export const compileQuery = async (query: Query): Promise<(params: Params) => boolean> => {
  const tests = await Promise.all(query.parts.map(async (part) => ({ key: part.key, test: await compilePart(part) })));
  // An object answers to names it inherits, such as constructor; only its own are params.
  return (params) => tests.every(({ key, test }) => Object.hasOwn(params, key) && test(params[key]));
};
