// Reads and writes a query in its text form, `config=8888&arch=!x86&name=~regex&os=*&gpu=!~re`. A text it does not understand must be an
// error that says what to write, never a query that selects something else.
import { checkWellFormed, quoted } from '../params/param-text.js';
import { invalidInput } from '../tracedb-error.js';
import { makeQuery, type Query, type QueryPart } from './query.js';

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
