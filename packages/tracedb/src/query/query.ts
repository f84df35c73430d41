// What a query is, its text form `config=8888&arch=!x86&name=~regex&os=*&gpu=!~re`, and what it means for the params of one trace, as plainly as
// possible. Parts are sorted by key and values are sorted and unique, so that two texts of one meaning are one query; a text that is not understood
// must be an error that says what to write, never a query that selects something else; a query must never be larger than the limits here, since users
// send them. The planned query must select exactly the traces that `compileQuery` selects, which must share no code with the plan: the plan is tested
// against it.
import { checkKey, checkValue, checkWellFormed, compareTexts, type Params, quoted } from '../params/param-text.js';
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
  const sorted = parts.map(({ key, kind, values }) => ({ key, kind, values: [...new Set(values)].sort() }));
  sorted.sort((a, b) => compareTexts(a.key, b.key));
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

/** UTF-16 code units of a query's text. */
const MAX_QUERY_LENGTH = 1_000_000;

type Kind = QueryPart['kind'];

const SHORT_FORM: Readonly<Record<Kind, string>> = {
  'one-of': 'value',
  'not-one-of': '!value',
  'has-key': '*',
  matches: '~regex',
  'not-matches': '!~regex',
};

const decode = (what: string, text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw invalidInput(`query ${what} ${quoted(text)} has a malformed % escape; write %25 for a percent sign`, {
      cause,
    });
  }
};

/** What stands after `key=`: its kind, and the value without the signs that gave the kind. */
const readValue = (key: string, text: string): [kind: Kind, value: string | undefined] => {
  if (text === '*') return ['has-key', undefined];
  if (text === '!*') {
    throw invalidInput(`query ${quoted(`${key}=!*`)} would never match, a negation needs the key; leave it out`);
  }
  const negated = text.startsWith('!');
  const rest = negated ? text.slice(1) : text;
  if (rest === '')
    throw invalidInput(`query ${quoted(`${key}=!`)} has no value after "!"; write ${quoted(`${key}=!value`)}`);
  if (rest.startsWith('~')) return [negated ? 'not-matches' : 'matches', rest.slice(1)];
  // A leading = takes the rest as it stands, for values that start with a sign.
  return [negated ? 'not-one-of' : 'one-of', rest.startsWith('=') ? rest.slice(1) : rest];
};

/**
 * The query a text describes: URL-encoded `key=value` pairs joined by `&`. Values of one key are alternatives, all keys must hold.
 *
 * | value | selects traces that |
 * |---|---|
 * | `8888` | have this value |
 * | `*` | have the key |
 * | `~re` | have a value in which the regular expression (RE2 syntax) is found; `^` and `$` anchor it |
 * | `!x86` | have the key with another value; of several such values, none |
 * | `!~re` | have the key with a value in which the expression is not found |
 * | `=*`, `!=~x` | have (have not) the value after `=`, taken as it stands |
 *
 * As in any form-encoded text `+` is a blank: write `%2B` for a plus sign. The empty text selects every trace. Throws
 * `ERR_SPANLINE_INVALID_INPUT` for a malformed text and for a key whose values are of different kinds.
 *
 * @example
 * ```ts
 * import { parseQuery } from '@spanline/tracedb';
 * const { parts } = parseQuery('config=8888&config=565&arch=!x86&os=*');
 * console.assert(parts[0].kind === 'not-one-of' && parts[1].values.join() === '565,8888');
 * ```
 */
export const parseQuery = (text: string): Query => {
  if (text.length > MAX_QUERY_LENGTH) {
    throw invalidInput(`a query of ${text.length} characters; the limit is ${MAX_QUERY_LENGTH}: use a pattern`);
  }
  const parts = new Map<string, { kind: Kind; values: string[] }>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    if (equals < 0) throw invalidInput(`query ${quoted(pair)} has no "="; write key=value, or key=* for any value`);
    const key = decode('key', pair.slice(0, equals));
    if (key === '') throw invalidInput(`query ${quoted(pair)} has no key before "="; write key=value`);
    const written = decode('value', pair.slice(equals + 1));
    if (written === '') {
      throw invalidInput(`query ${quoted(pair)} has no value after "="; write ${quoted(`${key}=*`)} for any value`);
    }
    const [kind, value] = readValue(key, written);
    const part = parts.get(key) ?? { kind, values: [] };
    if (part.kind !== kind) {
      throw invalidInput(
        `query key ${quoted(key)} has values of two kinds, ${SHORT_FORM[part.kind]} and ${SHORT_FORM[kind]}; use one kind for a key`,
      );
    }
    if (value !== undefined) part.values.push(value);
    parts.set(key, part);
  }
  return makeQuery([...parts].map(([key, { kind, values }]) => ({ key, kind, values })));
};

const encode = (text: string): string => {
  checkWellFormed('query text', text);
  return encodeURIComponent(text);
};

/** A value that would be read as something else is written after a `=`. */
const literal = (value: string): string => (value === '' || /^[=~!*]/.test(value) ? `=${value}` : value);

const writeValues = ({ kind, values }: QueryPart): readonly string[] => {
  if (kind === 'has-key') return ['*'];
  if (kind === 'one-of') return values.map(literal);
  if (kind === 'not-one-of') return values.map((value) => `!${literal(value)}`);
  return values.map((pattern) => (kind === 'matches' ? `~${pattern}` : `!~${pattern}`));
};

/**
 * The text of a query, which `parseQuery` reads back to the same query; use it for links, logs and explanations. Throws
 * `ERR_SPANLINE_INVALID_INPUT` for text without UTF-8 form.
 *
 * @example
 * ```ts
 * import { formatQuery, parseQuery } from '@spanline/tracedb';
 * console.assert(formatQuery(parseQuery('os=*&arch=!x86&arch=!arm')) === 'arch=!arm&arch=!x86&os=*');
 * ```
 */
export const formatQuery = (query: Query): string =>
  query.parts.flatMap((part) => writeValues(part).map((value) => `${encode(part.key)}=${encode(value)}`)).join('&');
