// The name of a trace as people see it: `,arch=x86,config=8888,`. One trace has exactly one; a text that is not the one must
// never be read as if it were.
import { invalidInput } from '../tracedb-error.js';
import { type CleaningRule, checkParams, DEFAULT_RULE, type Params, quoted } from './param-text.js';

/**
 * The structured key of these params: `,key=value,...,`, sorted by key. Use it wherever a trace needs a name that does not depend
 * on a tile. Throws `ERR_SPANLINE_INVALID_INPUT` when the rule refuses the params.
 *
 * @example
 * ```ts
 * import { makeStructuredKey } from '@spanline/tracedb';
 * console.assert(makeStructuredKey({ config: '8888', arch: 'x86' }) === ',arch=x86,config=8888,');
 * ```
 */
export const makeStructuredKey = (params: Params, rule: CleaningRule = DEFAULT_RULE): string => {
  checkParams(params, rule);
  return structuredKeyOf(params);
};

/**
 * The structured key of params that come from a store. They were checked when they were written, by a rule that the reader need
 * not know; use `makeStructuredKey` for params from anywhere else.
 *
 * @example
 * ```ts
 * import { structuredKeyOf } from '@spanline/tracedb';
 * console.assert(structuredKeyOf({ unit: 'ops/s', test: 'a b' }) === ',test=a b,unit=ops/s,');
 * ```
 */
export const structuredKeyOf = (params: Params): string => {
  let text = ',';
  for (const key of Object.keys(params).sort()) text += `${key}=${params[key]},`;
  return text;
};

/**
 * The params a structured key names. Throws `ERR_SPANLINE_INVALID_INPUT` unless it is in the one form `makeStructuredKey` gives:
 * keys sorted and unique, commas at both ends, only characters of the rule.
 *
 * @example
 * ```ts
 * import { parseStructuredKey } from '@spanline/tracedb';
 * console.assert(parseStructuredKey(',arch=x86,config=8888,').config === '8888');
 * ```
 */
export const parseStructuredKey = (text: string, rule: CleaningRule = DEFAULT_RULE): Params => {
  const refuse = (why: string): Error =>
    invalidInput(`structured key ${quoted(text)} ${why}; write ,key=value,key=value,`);
  if (text.length < 2 || !text.startsWith(',') || !text.endsWith(',')) throw refuse('must start and end with a comma');
  const entries: [string, string][] = [];
  let last = '';
  for (const part of text.slice(1, -1).split(',')) {
    const equals = part.indexOf('=');
    if (equals < 0) throw refuse(`has the part ${quoted(part)} without "="`);
    const key = part.slice(0, equals);
    if (entries.length > 0 && key === last) throw refuse(`has the key ${quoted(key)} twice`);
    if (entries.length > 0 && key < last)
      throw refuse(`has the key ${quoted(key)} after ${quoted(last)}, out of order`);
    last = key;
    entries.push([key, part.slice(equals + 1)]);
  }
  const params = Object.fromEntries(entries);
  checkParams(params, rule);
  return params;
};
