// Changes the cells of one family, row after row, inside a write transaction. One block is held in memory, so that many cells of a row
// are one write; until `flush` the file lacks what was changed, and nothing else may read the family.
import type { Database } from 'lmdb';
import { compareBytes } from '../byte-order.js';
import { blockKey, nextBlock, placeOfBlock } from './block-places.js';
import { CellBlock, isBlock, isSpread, oldCellTime, oldCellValue, SPREAD_ENTRY } from './cell-block.js';
import { cellKey } from './cell-key.js';
import type { EntryKey } from './lmdb-env.js';

type Cells = Database<Buffer, EntryKey>;

/** Writes the cells of one family. */
export class FamilyWriter {
  #database: Cells | undefined;
  #row = '';
  /** The entry of the row's only block, or the one that says that its blocks are spread. */
  #head = '';
  #isSpread = false;
  /** Where the held block is or will be; undefined when none is held, because it is not known which will be wanted. */
  #key: string | undefined;
  readonly #block = new CellBlock();
  #isChanged = false;
  /** The block behind the held one, once it was looked for. */
  #next: { readonly qualifier: string | undefined } | undefined;
  readonly #family: string;
  /** Whether the store may have cells of version 1. */
  readonly #hasOldCells: boolean;

  constructor(family: string, hasOldCells: boolean) {
    this.#family = family;
    this.#hasOldCells = hasOldCells;
  }

  /** Set a cell unless a newer one is there. */
  set(database: Cells, row: string, qualifier: string, value: Uint8Array, timestampMs: number): void {
    // What is far too long is cut into blocks before it grows further: with each cell all that sorts behind it moves.
    if (this.#block.isFarTooLong) this.flush();
    this.#turnTo(database, row);
    this.#hold(qualifier);
    this.#block.set(qualifier, value, timestampMs);
    this.#isChanged = true;
  }

  /** Remove a cell. */
  remove(database: Cells, row: string, qualifier: string): void {
    this.#turnTo(database, row);
    this.#hold(qualifier);
    if (this.#block.remove(qualifier)) this.#isChanged = true;
  }

  /** Write what is held, and forget the row. */
  flush(): void {
    if (this.#isChanged) this.#write();
    this.#database = undefined;
    this.#isChanged = false;
  }

  #turnTo(database: Cells, row: string): void {
    if (row === this.#row && database === this.#database) return;
    this.flush();
    this.#database = database;
    this.#row = row;
    this.#head = cellKey(row, this.#family, '');
    this.#look();
  }

  /** See what is there of the row. */
  #look(): void {
    const database = this.#database as Cells;
    const entry = database.getBinaryFast(this.#head);
    if (entry !== undefined && isSpread(entry)) {
      this.#isSpread = true;
      this.#key = undefined;
      this.#block.reset();
      return;
    }
    this.#holdOnly(entry !== undefined && isBlock(entry) ? entry : undefined);
    if (this.#hasOldCells && (entry === undefined || !isBlock(entry))) this.#takeOldCells();
  }

  /** Hold the block of a row that has one block at most. */
  #holdOnly(entry?: Buffer): void {
    this.#isSpread = false;
    this.#key = this.#head;
    this.#block.reset(entry);
  }

  /** Make a block of the cells that version 1 wrote. */
  #takeOldCells(): void {
    const database = this.#database as Cells;
    // Collected first: removing under a cursor would move it.
    for (const { key, value } of [...database.getRange({ start: this.#head, end: `${this.#head.slice(0, -1)}\x01` })]) {
      this.#block.set((key as string).slice(this.#head.length), oldCellValue(value), oldCellTime(value));
      database.removeSync(key);
      this.#isChanged = true;
    }
  }

  /** Hold the block in which `qualifier` belongs. */
  #hold(qualifier: string): void {
    if (!this.#isSpread || this.#isHeld(qualifier)) return;
    const database = this.#database as Cells;
    if (this.#isChanged) this.#writeBlock();
    this.#key = placeOfBlock(database, this.#head, qualifier);
    this.#next = undefined;
    this.#block.reset(this.#key === undefined ? undefined : database.getBinaryFast(this.#key));
    this.#key ??= blockKey(this.#head, qualifier);
  }

  #isHeld(qualifier: string): boolean {
    if (this.#key === undefined) return false;
    // A block begins at its key; the first one also has what sorts before, for which another look is made.
    if (compareBytes(qualifier, this.#key.slice(this.#head.length + 1)) < 0) return false;
    if (this.#next === undefined) {
      const key = nextBlock(this.#database as Cells, this.#head, undefined, this.#key);
      this.#next = { qualifier: key?.slice(this.#head.length + 1) };
    }
    return this.#next.qualifier === undefined || compareBytes(qualifier, this.#next.qualifier) < 0;
  }

  #write(): void {
    if (this.#isSpread) this.#writeBlock();
    else if (this.#block.isTooLong) this.#spread();
    else if (this.#block.isEmpty) (this.#database as Cells).removeSync(this.#head);
    else (this.#database as Cells).putSync(this.#head, this.#block.entry());
  }

  /** Cut the only block into more of them. */
  #spread(): void {
    this.#writePieces();
    (this.#database as Cells).putSync(this.#head, SPREAD_ENTRY);
  }

  /** Write the held block as more than one, each named after its first qualifier; their keys. What they replace must go after it. */
  #writePieces(): string[] {
    return this.#block.split().map(({ qualifier, entry }) => {
      const key = blockKey(this.#head, qualifier);
      (this.#database as Cells).putSync(key, entry);
      return key;
    });
  }

  /** Write the held block of a spread row. */
  #writeBlock(): void {
    const database = this.#database as Cells;
    const key = this.#key as string;
    this.#isChanged = false;
    if (this.#block.isEmpty) {
      database.removeSync(key);
      // A row without cells does not exist.
      if (nextBlock(database, this.#head) === undefined) database.removeSync(this.#head);
    } else if (this.#block.isTooLong) {
      // The first block may have cells that sort before its key, so that no piece need be in its place.
      if (!this.#writePieces().includes(key)) database.removeSync(key);
    } else {
      database.putSync(key, this.#block.entry());
    }
  }
}
