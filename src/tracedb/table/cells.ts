// The steps with cells that both stores take over and over: set one, and change a row on the condition that nobody did so since it was read.
import type { CallOptions, Mutation, WideColumnTable } from './wide-column-table.js';

/** Sets a cell. */
export const setCell = (
  family: string,
  qualifier: string,
  value: Uint8Array | string,
  timestampMs: number = Date.now(),
): Mutation => ({
  type: 'set',
  family,
  qualifier,
  value: typeof value === 'string' ? Buffer.from(value) : value,
  timestampMs,
});

/** A cell as it was read; without `value` it was absent. */
export interface CellState {
  readonly family: string;
  readonly qualifier: string;
  readonly value: Uint8Array | string | undefined;
}

/** Apply `mutations` to row `key` when the cell still is what it was; whether it was. */
export const changeRowIfSame = async (
  table: WideColumnTable,
  key: string,
  { family, qualifier, value }: CellState,
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
