// The queries of the suite and, for checking every subject, how many traces of the tile each one selects.
import { paramsOf } from './shape.mjs';

const one = (key, ...values) => ({ key, values, not: false });
const not = (key, ...values) => ({ key, values, not: true });

/** A trace meets all conditions; they stand with the rarest first, for subjects that have no planner. */
export const QUERIES = {
  'query-1': [one('os', 'linux')],
  'query-3': [one('config', 'gles'), one('os', 'linux'), one('unit', 'ms')],
  'query-3-rare': [one('test', 'test_00042'), one('os', 'linux'), one('branch', 'main')],
  'query-8': [
    one('config', 'gles', 'vk', '8888'),
    one('os', 'linux', 'android'),
    one('unit', 'ms', 'bytes'),
    one('arch', 'arm', 'arm64'),
    one('branch', 'main'),
    not('test', 'test_00042'),
    not('bot', 'bot-07'),
    not('gpu', 'gpu-06'),
  ],
};

/** The queries whose answers are streamed for the peak of memory: at least half of all traces each. */
export const STREAMED = {
  leaf: [one('branch', 'main')],
  union: [not('gpu', 'gpu-06')],
  intersection: [one('arch', 'arm', 'arm64'), one('branch', 'main')],
};

/** The query as spanline takes it. */
export const textOf = (conditions) =>
  conditions.flatMap(({ key, values, not }) => values.map((value) => `${key}=${not ? '!' : ''}${value}`)).join('&');

const matches = (params, conditions) =>
  conditions.every(({ key, values, not }) => values.includes(params[key]) !== not);

/** How many of `traces` each query selects, by looking at all of them. */
export const countAll = (traces) => {
  const queries = Object.entries({ ...QUERIES, ...STREAMED });
  const counts = Object.fromEntries(queries.map(([name]) => [name, 0]));
  for (let i = 0; i < traces; i++) {
    const params = paramsOf(i, traces);
    for (const [name, conditions] of queries) if (matches(params, conditions)) counts[name]++;
  }
  return counts;
};
