// A query to begin with: of many series the first few that belong together. Samples and spreads are no figures to look at first, and series of several
// units share no axis; so these keys are fixed first, and then those with the fewest values, until a plot of what is left can be read.
import { formatQuery, type ParamSet, queryFromParams } from '@spanline/tracedb';

/** Series that a plot can be read of. */
const READABLE = 12;
/** Queries counted before what there is must do. */
const MAX_TRIES = 12;
/** The figure of a run, by the names that tools give it. */
const STATS: readonly string[] = ['value', 'median', 'mean', 'min'];
/** Keys that tell what is measured, not of what. */
const FIRST_KEYS: readonly string[] = ['stat', 'unit', 'metric'];

const orderOf =
  (set: ParamSet) =>
  (key: string): number => {
    const first = FIRST_KEYS.indexOf(key);
    return first < 0 ? FIRST_KEYS.length + set.values(key).length : first;
  };

const chosenValue = (set: ParamSet, key: string): string => {
  const values = set.values(key);
  return (key === 'stat' ? STATS.find((stat) => values.includes(stat)) : undefined) ?? values[0];
};

/** A query that selects a readable number of series, as far as one is found; `''` where all are few. `countOf` tells how many a query selects. */
export const suggestQuery = async (set: ParamSet, countOf: (query: string) => Promise<number>): Promise<string> => {
  const order = orderOf(set);
  const keys = set
    .keys()
    .filter((key) => set.values(key).length > 1)
    .sort((a, b) => order(a) - order(b));
  let values: Readonly<Record<string, string>> = {};
  let count = await countOf('');
  for (const key of keys.slice(0, MAX_TRIES)) {
    if (count <= READABLE) break;
    const next = { ...values, [key]: chosenValue(set, key) };
    const left = await countOf(formatQuery(queryFromParams(next)));
    // A value that none of these series has helps nobody.
    if (left === 0) continue;
    values = next;
    count = left;
  }
  return formatQuery(queryFromParams(values));
};
