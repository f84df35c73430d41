// The rows that the writer and the readers of the crash test agree on: every batch writes all of them with one generation.
import type { Row, RowMutation } from '../../../src/table/wide-column-table.js';

export const SCHEMA = { families: ['V'] };

// More than one batch of a read has room for.
const SHORT_ROWS = 700;
const LONG_ROWS = 100;
const VALUE_BYTES = 300;

// Long rows share heads, so that some lie among others and some have a head to themselves; short ones sort around all of them.
const longRow = (i: number): string => `k${String(i % 7).repeat(2050 + (i % 3) * 900)}-${String(i).padStart(4, '0')}`;

/** Keys of all rows, in byte order. */
export const KEYS: readonly string[] = [
  ...Array.from({ length: SHORT_ROWS }, (_, i) => `${'akz'[i % 3]}${String(i).padStart(4, '0')}`),
  ...Array.from({ length: LONG_ROWS }, (_, i) => longRow(i)),
].sort();

/** The batch of a generation. */
export const batchOf = (generation: number): readonly RowMutation[] => {
  const value = Buffer.alloc(VALUE_BYTES, generation & 0xff);
  value.writeUInt32BE(generation);
  return KEYS.map((key) => ({
    key,
    mutations: [{ type: 'set', family: 'V', qualifier: 'g', value, timestampMs: generation }],
  }));
};

/** The generation of a row; throws when its value is not what a writer wrote. */
export const generationOf = ({ key, cells }: Row): number => {
  const value = Buffer.from(cells[0]?.value ?? []);
  const generation = value.length === VALUE_BYTES ? value.readUInt32BE() : -1;
  const isWhole = value.subarray(4).every((byte) => byte === (generation & 0xff));
  if (cells.length === 1 && isWhole && cells[0]?.timestampMs === generation) return generation;
  throw new Error(`row ${key.slice(0, 8)}... has ${cells.length} cells and the value ${value.toString('hex', 0, 16)}`);
};

/** What is wrong with a scan, and its generation: 0 when the table is empty. */
export const judge = (rows: readonly Row[]): { readonly generation: number; readonly fault: string | undefined } => {
  if (rows.length === 0) return { generation: 0, fault: undefined };
  const generations = [...new Set(rows.map(generationOf))];
  const generation = generations[0] as number;
  if (generations.length > 1) return { generation, fault: `generations ${generations.join(', ')} in one read` };
  const isAll = rows.length === KEYS.length && rows.every(({ key }, i) => key === KEYS[i]);
  return { generation, fault: isAll ? undefined : `${rows.length} of ${KEYS.length} rows in one read` };
};
