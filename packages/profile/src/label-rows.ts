// The label table of one profile: equal records once, the profiler's own three first.
import { getOrMake } from 'spanline/internal/base';
import { type LabelRecord, OWN_LABEL_KEY } from './labelled-profile.js';

const keyOf = (record: LabelRecord): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

export class LabelRows {
  readonly labels: LabelRecord[] = [{}, { [OWN_LABEL_KEY]: 'lost' }, { [OWN_LABEL_KEY]: 'overflow' }];
  readonly #rows = new Map(this.labels.map((record, row) => [keyOf(record), row]));

  rowOf(record: LabelRecord): number {
    return getOrMake(this.#rows, keyOf(record), () => this.labels.push(record) - 1);
  }
}

/** A record from pairs; no prototype, so that a key `__proto__` is a key like any other. */
export const recordFrom = (pairs: Iterable<readonly [string, string | number]>): LabelRecord => {
  const record = Object.create(null) as Record<string, string | number>;
  for (const [key, value] of pairs) record[key] = value;
  return Object.freeze(record);
};
