// What a query means for the params of one trace, said as plainly as possible: the planned query must select exactly the traces
// this selects. It must not share code with the plan, which is tested against it.
import type { Params } from '../params/param-text.js';
import type { Query, QueryPart } from './query.js';
import { compileRegex } from './regex.js';

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
