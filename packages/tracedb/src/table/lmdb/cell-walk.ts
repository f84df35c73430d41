// Walks the entries of a store in the order of their rows, over the cut between long rows and the others, in the ranges that a read visits, and
// gathers their cells to rows or keys, batch by batch. A batch is bounded by rows, bytes and time, because the event loop stands still while it is
// filled. It must look at nothing but its snapshot: rests of long rows from a later one would be half of another process's batch.
import type { Database, Transaction } from 'lmdb';
import { compareBytes, prefixEnd } from '../cells.js';
import { checkRowKey } from '../checked-table.js';
import type { Cell, ReadOptions, Row, RowSelection } from '../wide-column-table.js';
import { BlockCursor } from './cell-block.js';
import {
  blockFor,
  blockKey,
  cellKey,
  cutRow,
  type EntryKey,
  headOf,
  isDirectory,
  MAX_WHOLE_ROW_BYTES,
  readDirectory,
  restPrefix,
} from './cell-key.js';
import type { LmdbEnv } from './lmdb-env.js';

/** A range of rows: from `start` (included) to `end` (excluded, text or bytes). */
interface RowRange {
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

interface Entry {
  readonly key: EntryKey;
  readonly value: Buffer;
}

// A key when values are not wanted, else key and value.
type Entries = Iterator<Entry | EntryKey>;

const ID_BYTES = 6;
// No head and no character's bytes compare above it.
const ABOVE_ALL = Buffer.from([0xff]);
// Shorter than any head, so that the walk over whole rows ends behind the head of a long bound.
const SAFE_HEAD_BYTES = MAX_WHOLE_ROW_BYTES - 8;

/** Cells after which a new look into the tree is cheaper than a step to the next one. */
const MAX_STEPS = 4;
const LOOK_BACK = 24;

/** Whether two rows are one. Neighbours have most of their beginning in common, so it looks at the end first. */
const isSameRow = (a: string, b: string): boolean => {
  if (a.length !== b.length) return false;
  for (let i = a.length - 1, last = Math.max(0, i - LOOK_BACK); i >= last; i--) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return false;
  }
  return a === b;
};

/** A cursor on the cells of a range; its fields describe the cell it stands on. */
export class CellWalk {
  /** The row's key; '' before the first cell and after the last. */
  row = '';
  /** The entry: rest of the row, family and qualifier, parted by NUL. */
  entry = '';
  /** Where the entry's first NUL is. */
  rowEnd = 0;
  /** The entry's value; meaningless when values are not wanted. */
  value: Buffer = ABOVE_ALL;

  #entries: Entries;
  /** The walk over whole rows, waiting while that over the rests of a head goes on. */
  #outer: Entries | undefined;
  #head = '';
  #idLength = 0;
  readonly #endBytes: Buffer | undefined;
  /** Where the walk over whole rows ends. */
  readonly #cellsEnd: EntryKey | undefined;
  /** Whether a bound is a long row, so that the walk over whole rows begins before it or ends behind it. */
  readonly #mustCompare: boolean;

  readonly #snapshot: { readonly env: LmdbEnv; readonly transaction: Transaction | undefined };
  readonly #range: RowRange;
  readonly #withValues: boolean;

  constructor(
    snapshot: { readonly env: LmdbEnv; readonly transaction: Transaction | undefined },
    range: RowRange,
    withValues: boolean,
  ) {
    this.#snapshot = snapshot;
    this.#range = range;
    this.#withValues = withValues;
    const { start, end } = range;
    const cut = start === undefined ? undefined : cutRow(start);
    this.#endBytes = end === undefined ? undefined : Buffer.from(end as string);
    const isEndLong = this.#endBytes !== undefined && this.#endBytes.length > MAX_WHOLE_ROW_BYTES;
    this.#mustCompare = cut !== undefined || isEndLong;
    this.#cellsEnd = isEndLong ? Buffer.concat([this.#endBytes.subarray(0, SAFE_HEAD_BYTES), ABOVE_ALL]) : end;
    this.#entries = this.#open(snapshot.env.cells, cut?.head ?? start, this.#cellsEnd);
  }

  /** Step to the next cell; false at the end. */
  advance(): boolean {
    for (;;) {
      const result = this.#entries.next();
      if (result.done) {
        if (this.#outer === undefined) break;
        this.#entries = this.#outer;
        this.#outer = undefined;
        continue;
      }
      if (this.#stepTo(result.value)) return true;
    }
    this.row = '';
    return false;
  }

  /** Step to the first cell of another row: over the cells of this one, or past them when they are many. */
  nextRow(): void {
    const { row } = this;
    for (let steps = 0; steps < MAX_STEPS || this.#outer !== undefined; steps++) {
      if (!this.advance() || !isSameRow(this.row, row)) return;
    }
    this.#entries.return?.();
    // All cells of a row begin with it and NUL; what sorts behind them is another's.
    this.#entries = this.#open(this.#snapshot.env.cells, `${row}\x01`, this.#cellsEnd);
    this.advance();
  }

  /** End the walk; its snapshot stays. */
  end(): void {
    this.#entries.return?.();
    this.#outer?.return?.();
    this.row = '';
  }

  #stepTo(found: Entry | EntryKey): boolean {
    const key = (this.#withValues ? (found as Entry).key : found) as string;
    const rowEnd = key.indexOf('\0');
    if (rowEnd === -1) {
      // A head, or the entry that only holds a head's number.
      if (this.#outer === undefined) this.#descend(key);
      return false;
    }
    if (this.#outer === undefined) {
      this.row = key.slice(0, rowEnd);
      if (this.#mustCompare && !this.#contains(this.row)) return false;
    } else {
      this.row = this.#head + key.slice(this.#idLength, rowEnd);
      if (!this.#contains(this.row)) return false;
    }
    this.entry = key;
    this.rowEnd = rowEnd;
    if (!this.#withValues) return true;
    this.value = (found as Entry).value;
    const { qualifier } = this.#range;
    if (qualifier === undefined || !isDirectory(this.value)) return true;
    this.#goTo(key, qualifier);
    return false;
  }

  /** Of a family in many blocks look only at the block that holds `qualifier`. */
  #goTo(head: string, qualifier: string): void {
    const blocks = readDirectory(this.value);
    const key = blockKey(head, blocks[blockFor(blocks, qualifier)] as string);
    this.#entries.return?.();
    this.#entries = this.#open(this.#snapshot.env.cells, key, `${key}\0`);
  }

  #descend(key: string): void {
    const { env } = this.#snapshot;
    // Not from the snapshot, for which the engine has no call; but the number of a head never changes.
    const id = env.cells.getBinary(key)?.readUIntBE(0, ID_BYTES) ?? 0;
    const prefix = restPrefix(id);
    this.#head = headOf(key) as string;
    this.#idLength = prefix.length;
    this.#outer = this.#entries;
    this.#entries = this.#open(env.rests, prefix, prefixEnd(prefix));
  }

  #open(database: Database<Buffer, EntryKey>, start: EntryKey | undefined, end: EntryKey | undefined): Entries {
    const options = { start, end, transaction: this.#snapshot.transaction };
    const entries = this.#withValues ? database.getRange(options) : database.getKeys(options);
    return (entries as Iterable<Entry | EntryKey>)[Symbol.iterator]();
  }

  #contains(row: string): boolean {
    const { start } = this.#range;
    if (start !== undefined && compareBytes(row, start) < 0) return false;
    return this.#endBytes === undefined || Buffer.compare(Buffer.from(row), this.#endBytes) < 0;
  }
}

/** A state of the store that is being read. */
export class Snapshot {
  /** The engine's name for it; undefined before `hold`: the state of this turn of the event loop. */
  transaction: Transaction | undefined;
  #walk: CellWalk | undefined;
  #isEnded = false;

  constructor(readonly env: LmdbEnv) {
    // Else the state of earlier in this turn would serve, without what others wrote since.
    env.root.resetReadTxn();
  }

  /** Walk a range of rows; ends the walk before. */
  walkOf(range: RowRange, withValues: boolean): CellWalk {
    this.#walk?.end();
    this.#walk = new CellWalk(this, range, withValues);
    return this.#walk;
  }

  /** Keep it over a turn of the event loop; must be called before every one. Reads that need none are spared the cost. */
  hold(): void {
    this.transaction ??= this.env.root.useReadTransaction();
  }

  /** Let it go, at once; safe to call again. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#walk?.end();
    this.transaction?.done();
  }
}

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
  /** Bytes looked at. */
  readonly bytes: number;
  /** Bytes of keys and values that were found. */
  readonly payload: number;
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
  let payload = 0;
  const max = Math.min(limit, BATCH_ROWS);
  while (walk.row !== '' && items.length < max && bytes < BATCH_BYTES) {
    const key = walk.row;
    const cells = gatherCells(walk, filter);
    if (cells.length === 0) {
      // What is passed over counts as work, else a filter that nothing passes would fill one endless batch.
      bytes += key.length;
      continue;
    }
    let found = key.length;
    for (const { qualifier, value } of cells) {
      bytes += qualifier.length;
      found += value.length;
    }
    bytes += found;
    payload += found;
    items.push({ key, cells });
  }
  return { items, bytes, payload, isLast: walk.row === '' };
};

/** The next keys of a walk that stands on a cell (or at its end). */
export const gatherKeys = (walk: CellWalk, filter: CellFilter, limit: number): Batch<string> => {
  if (filter.families !== undefined || filter.qualifiers !== undefined) {
    const { items, bytes, isLast } = gatherRows(walk, filter, limit);
    const keys = items.map(({ key }) => key);
    return { items: keys, bytes, payload: keys.reduce((sum, key) => sum + key.length, 0), isLast };
  }
  const items: string[] = [];
  let bytes = 0;
  while (walk.row !== '' && items.length < limit && items.length < BATCH_ROWS) {
    items.push(walk.row);
    bytes += walk.row.length;
    walk.nextRow();
  }
  return { items, bytes, payload: bytes, isLast: walk.row === '' };
};
