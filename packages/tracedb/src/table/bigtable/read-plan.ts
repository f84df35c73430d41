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

const keysPlan = (names: readonly string[]): ReadPlan => {
  const keys = [...new Set(names)].map((key) => Buffer.from(key)).sort(Buffer.compare);
  let from = 0;
  let to = 0;
  return {
    next() {
      if (from >= keys.length) return undefined;
      let bytes = 0;
      for (to = from; to < keys.length && to - from < MAX_KEYS; to++) {
        bytes += (keys[to] as Buffer).length;
        if (bytes > MAX_KEY_BYTES) break;
      }
      return { rowKeys: keys.slice(from, to) };
    },
    readTo(key) {
      while (from < to && Buffer.compare(keys[from] as Buffer, key) <= 0) from++;
    },
    finished() {
      from = to;
    },
  };
};

const rangePlan = (start: string, end: Uint8Array | undefined): ReadPlan => {
  let after: Buffer | undefined;
  let isFinished = false;
  return {
    next() {
      if (isFinished) return undefined;
      const startKeyClosed = start === '' ? undefined : Buffer.from(start);
      return {
        rowRanges: [{ ...(after === undefined ? { startKeyClosed } : { startKeyOpen: after }), endKeyOpen: end }],
      };
    },
    readTo(key) {
      after = key;
    },
    finished() {
      isFinished = true;
    },
  };
};

/** The plan for `selection`. */
export const planRead = (selection: RowSelection): ReadPlan => {
  if ('keys' in selection) return keysPlan(selection.keys);
  if ('prefix' in selection) return rangePlan(selection.prefix, prefixEnd(selection.prefix));
  const { start = '', end } = selection;
  // The service takes an empty end for none, and refuses a range that ends before it starts.
  if (end !== undefined && compareBytes(start, end) >= 0) return keysPlan([]);
  return rangePlan(start, end === undefined ? undefined : Buffer.from(end));
};
