// The steps with cells that both stores take over and over: set one, and change a row on the condition that nobody did so since it was read.
import { timers } from 'spanline/internal/base';
import type { CallOptions, Cell, Mutation, Predicate, WideColumnTable } from './wide-column-table.js';

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
export const valueOfJson = (text: string | Uint8Array | undefined): unknown => {
  try {
    return JSON.parse(Buffer.from((text ?? '') as string).toString());
  } catch {
    return undefined;
  }
};

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
