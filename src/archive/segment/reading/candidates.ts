// Traces that a search may mean, a few numbers each: where each begins and when. Details are read again when it is known which are
// wanted.
import { Times } from '../order/span-rows.js';

/** A list that grows. */
export class Candidates {
  private groups = new Uint32Array(256);
  private rows = new Uint16Array(256);
  private starts = new Times(256);
  count = 0;

  /** Trace `row` of group `group`; groups and rows ascend. */
  add(group: number, row: number, startUnixNs: bigint): void {
    const { count } = this;
    if (count === this.groups.length)
      this.resize(
        Uint32Array.from({ length: count }, (_, i) => i),
        count * 2,
      );
    this.groups[count] = group;
    this.rows[count] = row;
    this.starts.values[count] = startUnixNs;
    this.count++;
  }

  group(i: number): number {
    return this.groups[i];
  }

  row(i: number): number {
    return this.rows[i];
  }

  /** All, the newest first; those that start at once in the order they came. */
  newestFirst(): Uint32Array {
    const { starts, count } = this;
    return Uint32Array.from({ length: count }, (_, i) => i).sort(
      (a, b) => starts.high(b) - starts.high(a) || starts.low(b) - starts.low(a) || a - b,
    );
  }

  /** Keep only the newest, when there are many more than `most`. */
  trim(most: number): void {
    if (this.count < 2 * most + 256) return;
    this.resize(this.newestFirst().subarray(0, most).sort(), 2 * most + 256);
  }

  private resize(kept: Uint32Array, capacity: number): void {
    const groups = new Uint32Array(capacity);
    const rows = new Uint16Array(capacity);
    const starts = new Times(capacity);
    kept.forEach((from, to) => {
      groups[to] = this.groups[from];
      rows[to] = this.rows[from];
      starts.values[to] = this.starts.values[from];
    });
    this.groups = groups;
    this.rows = rows;
    this.starts = starts;
    this.count = kept.length;
  }
}
