// Which rows a read has still to ask for, as requests. It starts again behind the last row that was read, so that a read whose
// connection broke goes on without a row twice or a row less.
import type { protos } from '@google-cloud/bigtable';
import { compareBytes, prefixEnd } from '../byte-order.js';
import type { RowSelection } from '../wide-column-table.js';

type RowSet = protos.google.bigtable.v2.IRowSet;

// Keeps a request with a list of keys small; the service refuses large ones.
const MAX_KEYS = 1000;
const MAX_KEY_BYTES = 128 * 1024;

/** The rows that are left. */
export interface ReadPlan {
  /** What to ask for next; undefined when nothing is left. */
  next(): RowSet | undefined;
  /** What `next` named was answered up to and with this key. */
  readTo(key: Buffer): void;
  /** What `next` named was answered to its end. */
  finished(): void;
}

class KeysPlan implements ReadPlan {
  readonly #keys: readonly Buffer[];
  #from = 0;
  #to = 0;

  constructor(keys: readonly string[]) {
    this.#keys = [...new Set(keys)].map((key) => Buffer.from(key)).sort(Buffer.compare);
  }

  next(): RowSet | undefined {
    if (this.#from >= this.#keys.length) return undefined;
    let bytes = 0;
    this.#to = this.#from;
    while (this.#to < this.#keys.length && this.#to - this.#from < MAX_KEYS) {
      bytes += (this.#keys[this.#to] as Buffer).length;
      if (bytes > MAX_KEY_BYTES) break;
      this.#to++;
    }
    return { rowKeys: this.#keys.slice(this.#from, this.#to) };
  }

  readTo(key: Buffer): void {
    while (this.#from < this.#to && Buffer.compare(this.#keys[this.#from] as Buffer, key) <= 0) this.#from++;
  }

  finished(): void {
    this.#from = this.#to;
  }
}

class RangePlan implements ReadPlan {
  #after: Buffer | undefined;
  #isFinished = false;

  readonly #start: Buffer | undefined;
  readonly #end: Buffer | undefined;

  constructor(start: Buffer | undefined, end: Buffer | undefined) {
    this.#start = start;
    this.#end = end;
  }

  next(): RowSet | undefined {
    if (this.#isFinished) return undefined;
    const from = this.#after === undefined ? { startKeyClosed: this.#start } : { startKeyOpen: this.#after };
    return { rowRanges: [{ ...from, endKeyOpen: this.#end }] };
  }

  readTo(key: Buffer): void {
    this.#after = key;
  }

  finished(): void {
    this.#isFinished = true;
  }
}

/** The plan for `selection`. */
export const planRead = (selection: RowSelection): ReadPlan => {
  if ('keys' in selection) return new KeysPlan(selection.keys);
  if ('prefix' in selection) {
    const { prefix } = selection;
    return new RangePlan(prefix === '' ? undefined : Buffer.from(prefix), prefixEnd(prefix));
  }
  const { start = '', end } = selection;
  // The service takes an empty end for none, and refuses a range that ends before it starts.
  if (end !== undefined && compareBytes(start, end) >= 0) return new KeysPlan([]);
  return new RangePlan(start === '' ? undefined : Buffer.from(start), end === undefined ? undefined : Buffer.from(end));
};
