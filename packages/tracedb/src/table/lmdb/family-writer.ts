// Changes the cells of one family, row after row, inside a write transaction. One block is held in memory, so that many cells of a row
// are one write; until `flush` the file lacks what was changed, and nothing else may read the family.
import type { Database } from 'lmdb';
import { compareBytes } from '../byte-order.js';
import { CellBlock } from './cell-block.js';
import { blockFor, blockKey, cellKey, directoryEntry, type EntryKey, isDirectory, readDirectory } from './cell-key.js';

type Cells = Database<Buffer, EntryKey>;

/** Writes the cells of one family. */
export class FamilyWriter {
  #database: Cells | undefined;
  #row = '';
  /** The entry of the row's only block, or of the directory of its blocks. */
  #head = '';
  /** The names of the row's blocks; undefined when it has one at most. */
  #names: string[] | undefined;
  #isDirectoryChanged = false;
  /** Which of several blocks is held; -1 when none is. */
  #current = -1;
  readonly #block = new CellBlock();
  #isChanged = false;
  readonly #family: string;

  constructor(family: string) {
    this.#family = family;
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
    if (this.#isDirectoryChanged)
      (this.#database as Cells).putSync(this.#head, directoryEntry(this.#names as string[]));
    this.#isDirectoryChanged = false;
    this.#database = undefined;
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
    const entry = (this.#database as Cells).getBinary(this.#head);
    this.#names = entry !== undefined && isDirectory(entry) ? readDirectory(entry) : undefined;
    this.#current = -1;
    if (this.#names === undefined) this.#block.reset(entry);
  }

  /** Hold the block in which `qualifier` belongs. */
  #hold(qualifier: string): void {
    if (this.#names === undefined || this.#isCurrent(this.#names, qualifier)) return;
    if (this.#isChanged) this.#write();
    // It may have been the last block.
    if (this.#names === undefined) return;
    this.#current = blockFor(this.#names, qualifier);
    this.#block.reset((this.#database as Cells).getBinary(blockKey(this.#head, this.#names[this.#current] as string)));
  }

  #isCurrent(names: readonly string[], qualifier: string): boolean {
    if (this.#current === -1) return false;
    // The first block also has what sorts before its name.
    if (this.#current > 0 && compareBytes(qualifier, names[this.#current] as string) < 0) return false;
    const next = names[this.#current + 1];
    return next === undefined || compareBytes(qualifier, next) < 0;
  }

  /** Write the held block. */
  #write(): void {
    const database = this.#database as Cells;
    this.#isChanged = false;
    if (this.#names !== undefined) this.#writeOneOf(this.#names);
    else if (this.#block.isTooLong) this.#names = this.#writePieces();
    else if (this.#block.isEmpty) database.removeSync(this.#head);
    else database.putSync(this.#head, this.#block.entry());
  }

  /** Write the held block of several. */
  #writeOneOf(names: string[]): void {
    const database = this.#database as Cells;
    const name = names[this.#current] as string;
    if (!this.#block.isEmpty && !this.#block.isTooLong) {
      database.putSync(blockKey(this.#head, name), this.#block.entry());
      return;
    }
    const pieces = this.#block.isEmpty ? [] : this.#writePieces();
    // The first block may have cells that sort before its name, so that no piece need be in its place.
    if (!pieces.includes(name)) database.removeSync(blockKey(this.#head, name));
    names.splice(this.#current, 1, ...pieces);
    this.#current = -1;
    this.#isDirectoryChanged = true;
    if (names.length > 0) return;
    // A row without cells does not exist; what is set next begins a block of its own.
    database.removeSync(this.#head);
    this.#names = undefined;
    this.#isDirectoryChanged = false;
  }

  /** Write the held block as more than one, each named after its first qualifier; their names. */
  #writePieces(): string[] {
    this.#isDirectoryChanged = true;
    return this.#block.split().map(({ qualifier, entry }) => {
      (this.#database as Cells).putSync(blockKey(this.#head, qualifier), entry);
      return qualifier;
    });
  }
}
