// What a read visits, as ranges of rows in byte order.
import { prefixEnd } from '../byte-order.js';
import { checkRowKey } from '../limits.js';
import type { ReadOptions, RowSelection } from '../wide-column-table.js';
import { cellKey, cutRow, type EntryKey } from './cell-key.js';

/** A range of rows: from `start` (included) to `end` (excluded, text or bytes). */
export interface RowRange {
  readonly start?: string;
  readonly end?: EntryKey;
  /** The only column of the only family that is wanted, if it is one: of a family with many blocks one is looked at. */
  readonly qualifier?: string;
}

// No key holds NUL, so a bound that does stands right behind the key before it.
const boundOf = (text: string): string => {
  const nul = text.indexOf('\0');
  return nul === -1 ? text : `${text.slice(0, nul)}\x01`;
};

/** The part of a row that is looked at: where a read asks for one family or column of rows by key, the others are not even touched. */
const rangeOfRow = (key: string, { families, qualifiers }: ReadOptions): RowRange => {
  const whole = { start: key, end: `${key}\x01` };
  const [family] = families ?? [];
  if (family === undefined || families?.length !== 1) return whole;
  const start = cellKey(key, family, '');
  if (cutRow(start) !== undefined) return whole;
  const [qualifier] = qualifiers?.length === 1 ? qualifiers : [];
  // All entries of the family sort before the text in which the NUL behind it is raised by one.
  return { start, end: `${start.slice(0, -1)}\x01`, qualifier };
};

/** The ranges of a selection, ascending. They may hold more cells than `options` ask for. */
export const rangesOf = (selection: RowSelection, options: ReadOptions = {}): readonly RowRange[] => {
  if ('keys' in selection) {
    const keys = [...new Set(selection.keys)];
    for (const key of keys) checkRowKey(key);
    // Sorted by bytes, which is the order of a scan.
    const sorted = keys.map((key) => Buffer.from(key)).sort(Buffer.compare);
    return sorted.map((bytes) => rangeOfRow(bytes.toString(), options));
  }
  if ('prefix' in selection) {
    const { prefix } = selection;
    return prefix.includes('\0') ? [] : [{ start: prefix, end: prefixEnd(prefix) }];
  }
  const { start, end } = selection;
  // Nothing sorts before the empty text; LMDB would take it for no end.
  if (end === '') return [];
  return [{ start: start && boundOf(start), end: end && boundOf(end) }];
};
