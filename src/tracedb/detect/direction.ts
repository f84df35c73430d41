// Which way is better for a unit: a table of data. A unit that is not in it must never be guessed at: a wrong guess turns a regression
// into an improvement.

/** Which way a series gets better; `unknown`: a change is reported and not judged. */
export type Direction = 'up' | 'down' | 'unknown';

const RATES = ['ops/sec', 'ops/s', 'op/s', 'ops', 'iter/sec', 'iter/s', 'hz', 'req/s', 'requests/s', 'rps', 'qps'];
const THROUGHPUTS = [
  'spans/s',
  'points/s',
  'rows/s',
  'ids/s',
  'b/s',
  'bytes/s',
  'kb/s',
  'mb/s',
  'gb/s',
  'mib/s',
  'gib/s',
];
const TIMES = ['ns', 'us', 'µs', 'μs', 'ms', 's', 'sec', 'seconds', 'min'];
const SIZES = ['b', 'byte', 'bytes', 'kb', 'mb', 'gb', 'kib', 'mib', 'gib', 'allocs'];
const SHARES = ['%', '% overhead', 'percent'];
const PER = ['op', 'iter', 'row', 'span', 'point', 'call'];

const costs = [...TIMES, ...SIZES].flatMap((unit) => [unit, ...PER.map((per) => `${unit}/${per}`)]);

/** The direction that is better by unit, in lower case. */
export const DIRECTION_BY_UNIT: ReadonlyMap<string, Direction> = new Map<string, Direction>([
  ...[...RATES, ...THROUGHPUTS].map((unit) => [unit, 'up'] as const),
  ...[...costs, ...SHARES].map((unit) => [unit, 'down'] as const),
]);

// A store keeps units as params, in which the cleaning rule has replaced what is not allowed: `ops/sec` comes back as `ops_sec`.
const cleaned = (unit: string): string => unit.replace(/[^a-z0-9._-]/g, '_');

const CLEANED: ReadonlyMap<string, Direction> = new Map(
  [...DIRECTION_BY_UNIT].map(([unit, direction]) => [cleaned(unit), direction]),
);

/**
 * Which way is better for values of a unit: `up` for rates, `down` for times, sizes, and shares of overhead, `unknown` for a unit that is
 * in no table. Case and space around the unit do not count, and a unit is
 * known in its cleaned form (`ops_sec`) too. `overrides` come first: give them for units of your own, or for a share
 * where more is better.
 *
 * @example
 * ```ts
 * import { directionOf } from 'spanline/tracedb';
 * console.assert(directionOf('ops/sec') === 'up' && directionOf('MB') === 'down' && directionOf('score') === 'unknown');
 * console.assert(directionOf('ops_sec') === 'up' && directionOf('score', { score: 'up' }) === 'up');
 * ```
 */
export const directionOf = (unit: string, overrides: Readonly<Record<string, Direction>> = {}): Direction => {
  const name = unit.trim().toLowerCase();
  const own = Object.entries(overrides).find(([key]) => {
    const known = key.trim().toLowerCase();
    return known === name || cleaned(known) === name;
  });
  return own?.[1] ?? DIRECTION_BY_UNIT.get(name) ?? CLEANED.get(name) ?? 'unknown';
};
