// Series as they are drawn: those of one unit share an axis, and no others; each has the color and dash that its place gives it, and a name made of
// what it does not share with the rest.
import type { SeriesAnswer } from '../../../api/history/answers.js';

type Series = SeriesAnswer['series'][number];

const COLORS = 6;
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3], [8, 3, 2, 3]];

/** A series in a plot. */
export interface DrawnSeries extends Series {
  readonly name: string;
  /** CSS variable of its color. */
  readonly color: string;
  readonly dash: readonly number[];
}

/** What is drawn on one axis. */
export interface UnitGroup {
  readonly unit: string;
  readonly series: readonly DrawnSeries[];
}

/** Params that all series have with one value. */
export const commonParams = (series: readonly Series[]): Readonly<Record<string, string>> => {
  const [first, ...others] = series;
  if (first === undefined) return {};
  return Object.fromEntries(
    Object.entries(first.params).filter(([key, value]) => others.every(({ params }) => params[key] === value)),
  );
};

/** Params as text. */
export const paramsText = (params: Readonly<Record<string, string>>): string =>
  Object.entries(params)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');

/** The series by their units, in order of appearance. */
export const groupsOf = (series: readonly Series[]): readonly UnitGroup[] => {
  const common = commonParams(series);
  const byUnit = new Map<string, DrawnSeries[]>();
  for (const one of series) {
    const group = byUnit.get(one.unit) ?? [];
    byUnit.set(one.unit, group);
    const own = Object.fromEntries(Object.entries(one.params).filter(([key]) => !Object.hasOwn(common, key)));
    group.push({
      ...one,
      name: paramsText(own) || paramsText(one.params),
      color: `--series-${(group.length % COLORS) + 1}`,
      dash: DASHES[Math.floor(group.length / COLORS) % DASHES.length],
    });
  }
  return [...byUnit].map(([unit, drawn]) => ({ unit, series: drawn }));
};
