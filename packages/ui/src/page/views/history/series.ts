// Series as they are drawn: those of one unit share an axis, and no others; each has the color and dash that its place gives it, and a name made of
// what it does not share with the rest. Commits are named by the beginning of their hash, as the address has them: it stays the same when others are
// added, and people may type it.
import type { CommitColumns, SeriesAnswer } from '../../../api/history/answers.js';

const DIGITS = 10;

/** As the page shows a hash and puts it into the address. */
export const shortHash = (hash: string): string => hash.slice(0, DIGITS);

/** The place of the commit that a text means; -1 for none. */
export const placeOf = ({ hashes }: CommitColumns, text: string | undefined): number =>
  text === undefined || text === '' ? -1 : hashes.findIndex((hash) => hash.startsWith(text));

/** Places from the first to the last that is seen. */
export type Zoom = readonly [first: number, last: number];

/** The part of the address that says what is seen; undefined for everything. */
export const zoomText = ({ hashes }: CommitColumns, zoom: Zoom | undefined): string | undefined =>
  zoom && `${shortHash(hashes[zoom[0]])}..${shortHash(hashes[zoom[1]])}`;

/** What such a text means among these commits; undefined where it means nothing. */
export const zoomOf = (commits: CommitColumns, text = ''): Zoom | undefined => {
  const [first, last] = text.split('..').map((part) => placeOf(commits, part));
  return first >= 0 && last > first ? [first, last] : undefined;
};

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
