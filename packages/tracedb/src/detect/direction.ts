// Which way is better for a unit: a table of data. A unit that is not in it must never be guessed at: a wrong guess turns a regression
// into an improvement. What the tool that measured says goes before what a unit looks like.
import type { Params } from '../params/param-text.js';

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

// A store keeps units as params, in which the cleaning rule has replaced what is not allowed: `ops/sec` comes back as `ops_sec`. Where more
// than a separator is replaced nobody can tell what it was: `_s` may be of `µs` or of `/s`, `_` of `%` or of `#`.
const READABLE = /^[a-z0-9._ /-]+$/;
const cleaned = (unit: string): string => unit.replace(/[^a-z0-9._-]/g, '_');

const CLEANED: ReadonlyMap<string, Direction> = new Map(
  [...DIRECTION_BY_UNIT].filter(([unit]) => READABLE.test(unit)).map(([unit, direction]) => [cleaned(unit), direction]),
);

/** As units of Chrome's histograms end: `ms_smallerIsBetter`. */
const SAID_BY_UNIT = /_(smaller|bigger)isbetter$/;

const ofTable = (name: string): Direction => {
  const said = SAID_BY_UNIT.exec(name)?.[1];
  if (said !== undefined) return said === 'bigger' ? 'up' : 'down';
  return DIRECTION_BY_UNIT.get(name) ?? CLEANED.get(name) ?? 'unknown';
};

/**
 * Which way is better for values of a unit: `up` for rates, `down` for times, sizes, and shares of overhead, `unknown` for a unit that is
 * in no table. Case and space around the unit do not count, and a unit is
 * known in its cleaned form (`ops_sec`) too where that is still one unit. `overrides` come first: give them for units of your own, or for a
 * share where more is better. What the tool that measured has `declared` goes before the table.
 *
 * @example
 * ```ts
 * import { directionOf } from '@spanline/tracedb';
 * console.assert(directionOf('ops/sec') === 'up' && directionOf('MB') === 'down' && directionOf('score') === 'unknown');
 * console.assert(directionOf('ops_sec') === 'up' && directionOf('score', { score: 'up' }) === 'up');
 * ```
 */
export const directionOf = (
  unit: string,
  overrides: Readonly<Record<string, Direction>> = {},
  declared?: Direction,
): Direction => {
  const name = unit.trim().toLowerCase();
  const own = Object.entries(overrides).map(([key, direction]) => [key.trim().toLowerCase(), direction] as const);
  const asked = own.find(([known]) => known === name) ?? own.find(([known]) => cleaned(known) === name);
  return asked?.[1] ?? declared ?? ofTable(name);
};

/** The param of a series that says which way is better where the unit does not, or says another; Chrome's series have it. */
export const DIRECTION_PARAM = 'improvement_direction';

/** What a series of Skia's format calls a value whose unit is the key: `ms=median`. */
const STATS: ReadonlySet<string> = new Set(
  'min max mean avg average median sum total value count p50 p75 p90 p95 p99 p999'.split(' '),
);

/** The unit of a series: its param `unit`, or `units` as Skia has it, or the name of the measurement where that is a unit. */
export const unitOfParams = (params: Params): string =>
  params.unit ??
  params.units ??
  Object.keys(params).find((key) => STATS.has(params[key] as string) && ofTable(key.toLowerCase()) !== 'unknown') ??
  '';

/** Which way is better by the params of a series, if one of them says so. */
export const declaredDirection = ({ [DIRECTION_PARAM]: said }: Params): Direction | undefined =>
  said === 'up' || said === 'down' || said === 'unknown' ? said : undefined;

/** (after - before) / |before|; 0 where both are the same. */
export const relativeChange = (before: number, after: number): number =>
  after === before ? 0 : (after - before) / Math.abs(before);

/** Whether a rise (or fall) is for the better. */
export const verdictOf = (isRise: boolean, direction: Direction): 'better' | 'worse' | 'changed' => {
  if (direction === 'unknown') return 'changed';
  return isRise === (direction === 'up') ? 'better' : 'worse';
};
