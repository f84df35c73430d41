// Writes the properties of many spans, events or links as columns: which keys and types stand together is a layout, known once a block,
// and the values of one key and type stand one behind the other.
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';
import type { ArchivedProperties, ArchivedValue } from '../../../trace/archived-span.js';
import type { StringTable } from '../tables/string-table.js';
import { writeColumn } from './value-column.js';
import { typeOf, VALUE_TYPES } from './value-types.js';

interface Column {
  readonly number: number;
  readonly key: string;
  readonly type: number;
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

/** Collects rows; `flush` writes them. */
export class PropertyWriter {
  private columns: Column[] = [];
  private byKey = new Map<string, (Column | undefined)[]>();
  private root = newNode(undefined, -1);
  private layouts: LayoutNode[] = [];
  private readonly rows: number[] = [];

  constructor(private readonly strings: StringTable) {}

  /** Whether any row has a property. */
  get hasAny(): boolean {
    return this.columns.length > 0;
  }

  /** The next row. */
  add(properties: ArchivedProperties): void {
    let node = this.root;
    for (const key of Object.keys(properties)) {
      const value = properties[key];
      const column = this.columnOf(key, typeOf(value));
      column.values.push(value);
      let next = node.next.get(column.number);
      if (next === undefined) {
        next = newNode(node, column.number);
        node.next.set(column.number, next);
      }
      node = next;
    }
    if (node.layout < 0) {
      node.layout = this.layouts.length;
      this.layouts.push(node);
    }
    this.rows.push(node.layout);
  }

  /** Append all rows, and begin anew. */
  flush(writer: ByteWriter): void {
    writer.varint(this.columns.length);
    for (const { key, type } of this.columns) {
      this.strings.writeRef(writer, key);
      writer.byte(type);
    }
    writer.varint(this.layouts.length);
    for (const { depth } of this.layouts) writer.varint(depth);
    for (const layout of this.layouts) for (const column of columnsOf(layout)) writer.varint(column);
    for (const layout of this.rows) writer.varint(layout);
    for (const { type, values } of this.columns) writeColumn(writer, type, values);
    this.clear();
  }

  clear(): void {
    this.columns = [];
    this.byKey = new Map();
    this.root = newNode(undefined, -1);
    this.layouts = [];
    this.rows.length = 0;
  }

  private columnOf(key: string, type: number): Column {
    let types = this.byKey.get(key);
    if (types === undefined) {
      types = new Array<Column | undefined>(VALUE_TYPES).fill(undefined);
      this.byKey.set(key, types);
    }
    let column = types[type];
    if (column === undefined) {
      column = { number: this.columns.length, key, type, values: [] };
      this.columns.push(column);
      types[type] = column;
    }
    return column;
  }
}
