// Writes a query as the text that `parseQuery` reads. One query must have one text, and reading it must give the query again.
import { checkWellFormed } from '../params/param-text.js';
import type { Query, QueryPart } from './query.js';

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
 * import { formatQuery, parseQuery } from 'spanline/tracedb';
 * console.assert(formatQuery(parseQuery('os=*&arch=!x86&arch=!arm')) === 'arch=!arm&arch=!x86&os=*');
 * ```
 */
export const formatQuery = (query: Query): string =>
  query.parts.flatMap((part) => writeValues(part).map((value) => `${encode(part.key)}=${encode(value)}`)).join('&');
