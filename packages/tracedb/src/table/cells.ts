// Keys and cells as both stores handle them: the order of keys, which is that of their UTF-8 bytes and not that of JavaScript's own comparison beyond
// U+FFFF; a cell that is set; a row that is changed on the condition that nobody did so since it was read.
import { attempt, timers } from 'spanline/internal/base';
import type { CallOptions, Cell, Mutation, Predicate, WideColumnTable } from './wide-column-table.js';

/** Negative, zero or positive as `a` sorts before, with or after `b` in UTF-8 bytes. */
export const compareBytes = (a: string, b: string): number => {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate stands for a character beyond U+FFFF, whose bytes sort after all others.
    const isHighX = x >= 0xd800 && x <= 0xdfff;
    const isHighY = y >= 0xd800 && y <= 0xdfff;
    if (isHighX !== isHighY) return isHighX ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
};

/** The bytes after all keys that start with `prefix`; undefined when no bytes are. */
export const prefixEnd = (prefix: string): Buffer | undefined => {
  const bytes = Buffer.from(prefix);
  // UTF-8 never holds 0xff, so the last byte can always be raised.
  if (bytes.length === 0) return undefined;
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) + 1;
  return bytes;
};

/** Sets a cell. */
export const setCell = (
  family: string,
  qualifier: string,
  value: Uint8Array | string,
  timestampMs: number = timers.wallMs(),
): Mutation => ({
  type: 'set',
  family,
  qualifier,
  value: typeof value === 'string' ? Buffer.from(value) : value,
  timestampMs,
});

/** The text in the cell of a column; undefined when there is none. */
export const textOf = (cells: readonly Cell[], column: string): string | undefined => {
  const cell = cells.find(({ qualifier }) => qualifier === column);
  return cell && Buffer.from(cell.value).toString();
};

/** The value of some JSON; undefined for what is none, which is damage like a value of another kind. */
export const valueOfJson = (text: string | Uint8Array | undefined): unknown =>
  attempt(() => JSON.parse(Buffer.from((text ?? '') as string).toString()));

/** Apply `mutations` to row `key` when a cell still has the value that was read, or is absent for undefined; whether it did. */
export const changeRowIfSame = async (
  table: WideColumnTable,
  key: string,
  { family, qualifier, value }: Omit<Predicate, 'value'> & { readonly value: Uint8Array | string | undefined },
  mutations: readonly Mutation[],
  options: CallOptions,
): Promise<boolean> => {
  if (value === undefined) {
    return !(await table.checkAndMutateRow(key, { family, qualifier }, { otherwise: mutations }, options));
  }
  const predicate = { family, qualifier, value: Buffer.from(value as string) };
  // biome-ignore lint/suspicious/noThenProperty: the table's word for it; a list of mutations is not thenable
  return table.checkAndMutateRow(key, predicate, { then: mutations }, options);
};
