// What the rows of the digest map hold: text both ways, since eight raw bytes could be taken for a counter.
import type { Mutation, RowMutation } from '../table/wide-column-table.js';
import { TraceDbError } from '../tracedb-error.js';
import { DIGEST_FAMILY, idCell } from './gold-keys.js';

/** Sets a column of the map. */
export const setCell = (qualifier: string, text: string): Mutation => ({
  type: 'set',
  family: DIGEST_FAMILY,
  qualifier,
  value: Buffer.from(text, 'latin1'),
  // Each cell is written once, so its time decides nothing.
  timestampMs: Date.now(),
});

/** The rows that say which digest each of these ids, in the same order, stands for. */
export const idRows = (digests: readonly string[], ids: readonly number[]): RowMutation[] => {
  const rows = new Map<string, Mutation[]>();
  digests.forEach((digest, i) => {
    const { key, column } = idCell(ids[i]);
    const mutations = rows.get(key) ?? [];
    rows.set(key, mutations);
    mutations.push(setCell(column, digest));
  });
  return [...rows].map(([key, mutations]) => ({ key, mutations }));
};

/** The id in a cell of row `key`. */
export const parseId = (value: Uint8Array, key: string): number => {
  const text = Buffer.from(value).toString('latin1');
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(id)) {
    throw new TraceDbError(
      'ERR_SPANLINE_STORE_CORRUPT',
      `row ${key} holds the digest id ${JSON.stringify(text.slice(0, 40))}, which is none; restore it from a backup`,
    );
  }
  return id;
};
