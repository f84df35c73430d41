// The values of a trace in a tile and the cells they are kept in. A missing value is an absent cell, NaN in memory, never a zero.
import { setCell } from '../table/cells.js';
import type { Cell, Mutation } from '../table/wide-column-table.js';
import { storeCorrupt } from '../tracedb-error.js';
import { FAMILIES } from './keys.js';

const VALUE_BYTES = 4;

/** The cells of one value; `qualifier` is the offset of its commit in the tile. */
export const valueMutations = (
  qualifier: string,
  value: number,
  digest: Uint8Array,
  timestampMs: number,
): Mutation[] => {
  const bytes = Buffer.allocUnsafe(VALUE_BYTES);
  bytes.writeFloatLE(value);
  return [
    setCell(FAMILIES.value, qualifier, bytes, timestampMs),
    setCell(FAMILIES.source, qualifier, digest, timestampMs),
  ];
};

/** The values of a row, NaN where it has none. */
export const valuesOf = (key: string, cells: readonly Cell[], tileSize: number): Float32Array => {
  const values = new Float32Array(tileSize).fill(Number.NaN);
  for (const { qualifier, value } of cells) {
    const offset = Number(qualifier);
    if (!(offset >= 0 && offset < tileSize) || value.length !== VALUE_BYTES) {
      throw storeCorrupt(`row ${key} has no value of a tile of ${tileSize} in column ${qualifier}`);
    }
    const bits =
      (value[0] as number) | ((value[1] as number) << 8) | ((value[2] as number) << 16) | ((value[3] as number) << 24);
    BITS[0] = bits;
    values[offset] = FLOATS[0] as number;
  }
  return values;
};

// Four bytes as a float without a DataView for every cell.
const BITS = new Int32Array(1);
const FLOATS = new Float32Array(BITS.buffer);
