// Gathers the cells of a walk to rows, or to keys of rows, batch by batch. A batch is bounded by rows, bytes and time, because
// the event loop stands still while it is filled.
import type { Cell, ReadOptions, Row } from '../wide-column-table.js';
import { BlockCursor } from './cell-block.js';
import { isDirectory } from './cell-key.js';
import type { CellWalk } from './cell-walk.js';

/** Which cells of a row count. */
export interface CellFilter {
  readonly families: ReadonlySet<string> | undefined;
  readonly qualifiers: ReadonlySet<string> | undefined;
}

/** What a read asks for. */
export const filterOf = ({ families, qualifiers }: ReadOptions): CellFilter => ({
  families: families === undefined ? undefined : new Set(families),
  qualifiers: qualifiers === undefined ? undefined : new Set(qualifiers),
});

/** Items and bytes after which a batch is full. */
export const BATCH_ROWS = 512;
export const BATCH_BYTES = 512 * 1024;

/** What one call of a gatherer found. */
export interface Batch<T> {
  readonly items: T[];
  readonly bytes: number;
  /** The walk is over. */
  readonly isLast: boolean;
}

const gatherCells = (walk: CellWalk, { families, qualifiers }: CellFilter): Cell[] => {
  const { row } = walk;
  const cells: Cell[] = [];
  do {
    const { entry, rowEnd, value: bytes } = walk;
    if (isDirectory(bytes)) continue;
    const split = entry.indexOf('\0', rowEnd + 1);
    const family = entry.slice(rowEnd + 1, split);
    if (families !== undefined && !families.has(family)) continue;
    for (const cursor = new BlockCursor(bytes, bytes.length); cursor.next(); ) {
      const { qualifier } = cursor;
      if (qualifiers !== undefined && !qualifiers.has(qualifier)) continue;
      cells.push({ family, qualifier, value: cursor.value, timestampMs: cursor.timestampMs });
    }
  } while (walk.advance() && walk.row === row);
  return cells;
};

/** The next rows of a walk that stands on a cell (or at its end). */
export const gatherRows = (walk: CellWalk, filter: CellFilter, limit: number): Batch<Row> => {
  const items: Row[] = [];
  let bytes = 0;
  const max = Math.min(limit, BATCH_ROWS);
  while (walk.row !== '' && items.length < max && bytes < BATCH_BYTES) {
    const key = walk.row;
    const cells = gatherCells(walk, filter);
    if (cells.length === 0) {
      // What is passed over counts as work, else a filter that nothing passes would fill one endless batch.
      bytes += key.length;
      continue;
    }
    bytes += key.length;
    for (const cell of cells) bytes += cell.value.length + cell.qualifier.length;
    items.push({ key, cells });
  }
  return { items, bytes, isLast: walk.row === '' };
};

/** The next keys of a walk that stands on a cell (or at its end). */
export const gatherKeys = (walk: CellWalk, filter: CellFilter, limit: number): Batch<string> => {
  if (filter.families !== undefined || filter.qualifiers !== undefined) {
    const { items, bytes, isLast } = gatherRows(walk, filter, limit);
    return { items: items.map(({ key }) => key), bytes, isLast };
  }
  const items: string[] = [];
  let bytes = 0;
  while (walk.row !== '' && items.length < limit && items.length < BATCH_ROWS) {
    items.push(walk.row);
    bytes += walk.row.length;
    walk.nextRow();
  }
  return { items, bytes, isLast: walk.row === '' };
};
