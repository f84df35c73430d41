// The properties of a block as read: rows of values out of columns. Columns are decoded with the block, objects only for the rows asked
// for. No count is believed that the bytes do not bear out.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ArchivedProperties, ArchivedValue } from '../../../trace/archived-span.js';
import type { Extras } from '../../../trace/extras.js';
import { isReserved, restored, storedKey } from '../../stored-extras.js';
import type { StringTable } from '../tables/string-table.js';
import { readColumn, type ValueColumn } from './value-column.js';
import { VALUE_TYPES, ValueType } from './value-types.js';

/** Values of a block: no writer makes more. */
const MAX_VALUES = 2 ** 22;

interface Column {
  readonly key: string;
  readonly type: number;
}

/** Properties by row. */
export class PropertyBlock {
  private readonly hasReserved: boolean;

  private constructor(
    private readonly columns: readonly Column[],
    private readonly layouts: readonly Uint32Array[],
    private readonly rows: Uint32Array,
    /** Where the places of a row begin. */
    private readonly starts: Uint32Array,
    /** The place of each value in its column, row by row. */
    private readonly places: Uint32Array,
    private readonly values: readonly ValueColumn[],
  ) {
    this.hasReserved = columns.some(({ key }) => isReserved(key));
  }

  /** Rows that `count` spans, events or links have; the caller has capped `count`. */
  static read(reader: ByteReader, strings: StringTable, count: number): PropertyBlock {
    const columnCount = reader.varint();
    if (columnCount > reader.left) throw reader.corrupt('is too short for its columns');
    const columns: Column[] = [];
    for (let i = 0; i < columnCount; i++) {
      const column = { key: strings.readRef(reader), type: reader.byte() };
      if (column.type >= VALUE_TYPES) throw reader.corrupt(`has a column of unknown type ${column.type}`);
      columns.push(column);
    }
    const layouts = readLayouts(reader, columnCount);
    const rows = new Uint32Array(count);
    const starts = new Uint32Array(count + 1);
    for (let row = 0; row < count; row++) {
      const layout = reader.varint();
      if (layout >= layouts.length) throw reader.corrupt('has a row of unknown layout');
      rows[row] = layout;
      starts[row + 1] = starts[row] + layouts[layout].length;
      if (starts[row + 1] > MAX_VALUES) throw reader.corrupt('has too many values');
    }
    const places = new Uint32Array(starts[count]);
    const counts = new Uint32Array(columnCount);
    let at = 0;
    for (const layout of rows) for (const column of layouts[layout]) places[at++] = counts[column]++;
    const values = columns.map(({ type }, i) => {
      const isStored = type !== ValueType.no && type !== ValueType.yes && type !== ValueType.empty;
      if (isStored && counts[i] > reader.left) throw reader.corrupt('is too short for its values');
      return readColumn(reader, type, counts[i]);
    });
    return new PropertyBlock(columns, layouts, rows, starts, places, values);
  }

  /** The properties of a row, and what is stored with them. */
  get(row: number): Extras & { readonly properties: ArchivedProperties } {
    const stored = this.stored(row);
    return this.hasReserved ? restored(stored) : { properties: stored };
  }

  private stored(row: number): ArchivedProperties {
    const properties: Record<string, ArchivedValue> = {};
    let at = this.starts[row];
    for (const column of this.layouts[this.rows[row]]) {
      const { key } = this.columns[column];
      const value = this.values[column].get(this.places[at++]);
      if (key !== '__proto__') properties[key] = value;
      else Object.defineProperty(properties, key, { value, enumerable: true, configurable: true, writable: true });
    }
    return properties;
  }

  /** One value of a row. */
  value(row: number, key: string): ArchivedValue | undefined {
    const layout = this.layouts[this.rows[row]];
    const wanted = storedKey(key);
    for (let i = 0; i < layout.length; i++) {
      if (this.columns[layout[i]].key === wanted) return this.values[layout[i]].get(this.places[this.starts[row] + i]);
    }
    return undefined;
  }

  /** Whether any row has the key. */
  hasKey(key: string): boolean {
    const wanted = storedKey(key);
    return this.columns.some((column) => column.key === wanted);
  }
}

const readLayouts = (reader: ByteReader, columns: number): Uint32Array[] => {
  const count = reader.varint();
  if (count > reader.left) throw reader.corrupt('is too short for its layouts');
  const lengths: number[] = [];
  for (let i = 0; i < count; i++) {
    const length = reader.varint();
    if (length > columns) throw reader.corrupt('has a layout of more columns than there are');
    lengths.push(length);
  }
  return lengths.map((length) => {
    if (length > reader.left) throw reader.corrupt('is too short for its layouts');
    const layout = new Uint32Array(length);
    for (let i = 0; i < length; i++) {
      layout[i] = reader.varint();
      if (layout[i] >= columns) throw reader.corrupt('has a layout of a column that does not exist');
    }
    return layout;
  });
};
