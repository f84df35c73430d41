// The label table of one profile: equal records once, the profiler's own first.
import { type LabelRecord, LOST_LABEL, NO_LABEL, OVERFLOW_LABEL, OWN_LABEL_KEY } from './labelled-profile.js';
import { recordOf } from './scope.js';
import { NO_SCOPE, type Scope } from './shared-state.js';

/** What is known of the labels of a sample. */
export type Attribution = Scope | 'lost' | 'overflow';

const keyOf = (record: LabelRecord): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

export class LabelRows {
  readonly labels: LabelRecord[] = [{}, { [OWN_LABEL_KEY]: 'lost' }, { [OWN_LABEL_KEY]: 'overflow' }];
  private readonly byKey = new Map<string, number>([[keyOf({}), NO_LABEL]]);
  private readonly byScope = new Map<Scope, number>([[NO_SCOPE, NO_LABEL]]);

  rowOf(scope: Attribution): number {
    if (scope === 'lost') return LOST_LABEL;
    if (scope === 'overflow') return OVERFLOW_LABEL;
    const known = this.byScope.get(scope);
    if (known !== undefined) return known;
    const row = this.rowOfRecord(recordOf(scope));
    this.byScope.set(scope, row);
    return row;
  }

  private rowOfRecord(record: LabelRecord): number {
    const key = keyOf(record);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    this.byKey.set(key, this.labels.length);
    return this.labels.push(record) - 1;
  }
}
