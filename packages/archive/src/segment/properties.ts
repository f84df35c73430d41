// The properties of many spans, events or links as columns, one for each key and type. A layout lists the columns of a row, in the order of
// its keys; most rows share few layouts.
//
//     rows(n) = c:varint (key:ref type:byte)[c] l:varint length:varint[l] (column:varint[length])[l] layout:varint[n] values[c]
//
// Values of one kind stand together, so that they compress together. A reader must not size anything by a count that the bytes at hand cannot bear out.

import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue, PropertyDraft } from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { isReserved, restored, storedKey } from '../stored-extras.js';
import { readValue, TextColumn, typeOf, VALUE_TYPES, ValueType, writeTexts, writeValue } from '../values/values.js';
import type { StringTable } from './span-tables.js';

const REAL_BYTES = 8;

/** Bytes of one significance together: signs and exponents repeat, fractions do not. */
const writeReals = (writer: ByteWriter, values: readonly number[]): void => {
  const view = new DataView(new ArrayBuffer(values.length * REAL_BYTES));
  values.forEach((value, i) => {
    view.setFloat64(i * REAL_BYTES, value, true);
  });
  for (let plane = 0; plane < REAL_BYTES; plane++) {
    for (let i = 0; i < values.length; i++) writer.byte(view.getUint8(i * REAL_BYTES + plane));
  }
};

const readReals = (reader: ByteReader, count: number): Float64Array => {
  const planes = reader.raw(count * REAL_BYTES);
  const view = new DataView(new ArrayBuffer(count * REAL_BYTES));
  for (let plane = 0; plane < REAL_BYTES; plane++) {
    for (let i = 0; i < count; i++) view.setUint8(i * REAL_BYTES + plane, planes[plane * count + i]);
  }
  return Float64Array.from({ length: count }, (_, i) => view.getFloat64(i * REAL_BYTES, true));
};

/** Append the values of a column, all of `type`. */
const writeColumn = (writer: ByteWriter, type: number, values: readonly ArchivedValue[]): void => {
  if (type === ValueType.text) writeTexts(writer, values as readonly string[]);
  else if (type === ValueType.real) writeReals(writer, values as readonly number[]);
  else if (type === ValueType.double) writeReals(writer, (values as readonly ArchivedDouble[]).map(Number));
  else for (const value of values) writeValue(writer, type, value);
};

/** Values by their place in a column. */
interface ValueColumn {
  get(place: number): ArchivedValue;
}

/** Read a column of `count` values; the caller has capped `count` by the bytes there are. */
const readColumn = (reader: ByteReader, type: number, count: number): ValueColumn => {
  switch (type) {
    case ValueType.text:
      return new TextColumn(reader, count);
    case ValueType.real: {
      const values = readReals(reader, count);
      return { get: (place) => values[place] };
    }
    case ValueType.double: {
      const values = readReals(reader, count);
      return { get: (place) => new ArchivedDouble(values[place]) };
    }
    case ValueType.empty:
      return { get: () => null };
    case ValueType.no:
    case ValueType.yes:
      return { get: () => type === ValueType.yes };
    default: {
      const values: ArchivedValue[] = [];
      for (let i = 0; i < count; i++) values.push(readValue(reader, type));
      return { get: (place) => values[place] };
    }
  }
};

/** The values of one key and type. */
interface Column {
  readonly key: string;
  readonly type: number;
}

interface FilledColumn extends Column {
  readonly number: number;
  readonly values: ArchivedValue[];
}

/** One place in a tree of layouts, whose columns are those on the way to it. */
interface LayoutNode {
  readonly before: LayoutNode | undefined;
  readonly column: number;
  readonly depth: number;
  readonly next: Map<number, LayoutNode>;
  /** Its number; -1 while no row ended here. */
  layout: number;
}

const newNode = (before: LayoutNode | undefined, column: number): LayoutNode => ({
  before,
  column,
  depth: before === undefined ? 0 : before.depth + 1,
  next: new Map(),
  layout: -1,
});

const columnsOf = (layout: LayoutNode): number[] => {
  const columns = new Array<number>(layout.depth);
  for (let node = layout; node.before !== undefined; node = node.before) columns[node.depth - 1] = node.column;
  return columns;
};

/** Collects rows; `write` appends them. */
export class PropertyWriter {
  readonly #strings: StringTable;
  readonly #columns: FilledColumn[] = [];
  readonly #byKey = new Map<string, (FilledColumn | undefined)[]>();
  /** The same by number of the key and type, of rows of spans. */
  readonly #byNumber = new Map<number, FilledColumn>();
  readonly #root = newNode(undefined, -1);
  readonly #layouts: LayoutNode[] = [];
  readonly #rows: number[] = [];

  constructor(strings: StringTable) {
    this.#strings = strings;
  }

  /** Whether any row has a property. */
  get hasAny(): boolean {
    return this.#columns.length > 0;
  }

  /** The next row. */
  add(properties: ArchivedProperties): void {
    let node = this.#root;
    for (const key of Object.keys(properties)) {
      const value = properties[key];
      node = this.#put(node, this.#columnOf(key, typeOf(value)), value);
    }
    this.#end(node);
  }

  /** The next row: those of a span. */
  addRow({ firstProperty, keys, types, values, texts }: SpanRows, row: number): void {
    let node = this.#root;
    for (let i = firstProperty[row]; i < firstProperty[row + 1]; i++) {
      const place = keys[i] * VALUE_TYPES + types[i];
      let column = this.#byNumber.get(place);
      if (column === undefined) {
        column = this.#columnOf(texts[keys[i]], types[i]);
        this.#byNumber.set(place, column);
      }
      node = this.#put(node, column, values[i]);
    }
    this.#end(node);
  }

  #put(node: LayoutNode, column: FilledColumn, value: ArchivedValue): LayoutNode {
    column.values.push(value);
    let next = node.next.get(column.number);
    if (next === undefined) {
      next = newNode(node, column.number);
      node.next.set(column.number, next);
    }
    return next;
  }

  #end(node: LayoutNode): void {
    if (node.layout < 0) {
      node.layout = this.#layouts.length;
      this.#layouts.push(node);
    }
    this.#rows.push(node.layout);
  }

  /** Append all rows. */
  write(writer: ByteWriter): void {
    writer.varint(this.#columns.length);
    for (const { key, type } of this.#columns) {
      this.#strings.writeRef(writer, key);
      writer.byte(type);
    }
    writer.varint(this.#layouts.length);
    for (const { depth } of this.#layouts) writer.varint(depth);
    for (const layout of this.#layouts) for (const column of columnsOf(layout)) writer.varint(column);
    for (const layout of this.#rows) writer.varint(layout);
    for (const { type, values } of this.#columns) writeColumn(writer, type, values);
  }

  #columnOf(key: string, type: number): FilledColumn {
    let types = this.#byKey.get(key);
    if (types === undefined) {
      types = new Array<FilledColumn | undefined>(VALUE_TYPES).fill(undefined);
      this.#byKey.set(key, types);
    }
    let column = types[type];
    if (column === undefined) {
      column = { number: this.#columns.length, key, type, values: [] };
      this.#columns.push(column);
      types[type] = column;
    }
    return column;
  }
}

/** The part of some rows; empty when none of them has properties. */
export const encodeProperties = (rows: SpanRows, chosen: Uint32Array, strings: StringTable): Buffer => {
  const properties = new PropertyWriter(strings);
  const writer = new ByteWriter();
  for (const row of chosen) properties.addRow(rows, row);
  if (properties.hasAny) properties.write(writer);
  return writer.view();
};

/** Values of a block: no writer makes more. */
const MAX_VALUES = 2 ** 22;

/** Properties by row. */
export class PropertyBlock {
  readonly #columns: readonly Column[];
  readonly #layouts: readonly Uint32Array[];
  readonly #rows: Uint32Array;
  /** Where the places of a row begin. */
  readonly #starts: Uint32Array;
  /** The place of each value in its column, row by row. */
  readonly #places: Uint32Array;
  readonly #values: readonly ValueColumn[];
  readonly #hasReserved: boolean;

  /** Reads the rows that `count` spans, events or links have; the caller has capped `count`. */
  constructor(reader: ByteReader, strings: StringTable, count: number) {
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
    this.#values = columns.map(({ type }, i) => {
      const isStored = type !== ValueType.no && type !== ValueType.yes && type !== ValueType.empty;
      if (isStored && counts[i] > reader.left) throw reader.corrupt('is too short for its values');
      return readColumn(reader, type, counts[i]);
    });
    this.#columns = columns;
    this.#layouts = layouts;
    this.#rows = rows;
    this.#starts = starts;
    this.#places = places;
    this.#hasReserved = columns.some(({ key }) => isReserved(key));
  }

  /** The properties of a row, and what is stored with them. */
  get(row: number): ReturnType<typeof restored> {
    const stored = this.#stored(row);
    return this.#hasReserved ? restored(stored) : { properties: stored };
  }

  #stored(row: number): ArchivedProperties {
    const properties = new PropertyDraft();
    let at = this.#starts[row];
    for (const column of this.#layouts[this.#rows[row]]) {
      properties.set(this.#columns[column].key, this.#values[column].get(this.#places[at++]));
    }
    return properties.done();
  }

  /** One value of a row. */
  value(row: number, key: string): ArchivedValue | undefined {
    const layout = this.#layouts[this.#rows[row]];
    const wanted = storedKey(key);
    for (let i = 0; i < layout.length; i++) {
      if (this.#columns[layout[i]].key === wanted)
        return this.#values[layout[i]].get(this.#places[this.#starts[row] + i]);
    }
    return undefined;
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
