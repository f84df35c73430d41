// Applies mutations inside an open write transaction, a writer for each family: one block is held in memory, so that many cells of a row are one
// write; until its `flush` the file lacks what was changed, and nothing else may read the family. Everything here is synchronous: a pause would let
// another writer's batch in.
import type { Database } from 'lmdb';
import { getOrMake, timers } from 'spanline/internal/base';
import { invalidInput, tableLimit } from '../../tracedb-error.js';
import { compareBytes } from '../cells.js';
import type { Mutation, Predicate, RowMutation } from '../wide-column-table.js';
import { BlockCursor, CellBlock } from './cell-block.js';
import {
  blockFor,
  blockKey,
  cellKey,
  cutRow,
  directoryEntry,
  type EntryKey,
  headKey,
  isDirectory,
  readDirectory,
  restPrefix,
} from './cell-key.js';
import type { LmdbEnv } from './lmdb-env.js';

type Cells = Database<Buffer, EntryKey>;

/** Writes the cells of one family. */
class FamilyWriter {
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

/** What a cell holds. */
interface FoundCell {
  readonly value: Uint8Array;
  readonly timestampMs: number;
}

const findIn = (block: Buffer, qualifier: string): FoundCell | undefined => {
  for (const cell = new BlockCursor(block, block.length); cell.next(); ) {
    const order = cell.compare(qualifier);
    if (order === 0) return { value: cell.value, timestampMs: cell.timestampMs };
    if (order > 0) return undefined;
  }
  return undefined;
};

/** Where the cells of one row are. */
interface Place {
  readonly database: Cells;
  readonly row: string;
}

const ID_BYTES = 6;

const lastId = ({ rests }: LmdbEnv): number => {
  for (const key of rests.getKeys({ reverse: true, limit: 1 })) return Number.parseInt(key as string, 10);
  return 0;
};

/** The place of a row; undefined when it is long, has none yet, and `mutations` would put no cell there. */
const placeOf = (env: LmdbEnv, row: string, mutations: readonly Mutation[]): Place | undefined => {
  const cut = cutRow(row);
  if (cut === undefined) return { database: env.cells, row };
  const key = headKey(cut.head);
  const bytes = env.cells.getBinary(key);
  let id = bytes?.readUIntBE(0, ID_BYTES);
  if (id === undefined) {
    if (!mutations.some(({ type }) => type === 'set')) return undefined;
    id = lastId(env) + 1;
    const idBytes = Buffer.alloc(ID_BYTES);
    idBytes.writeUIntBE(id, 0, ID_BYTES);
    env.cells.putSync(key, idBytes);
    // Holds the number while the head has no cell, so that no other head is given it.
    env.rests.putSync(restPrefix(id), Buffer.alloc(0));
  }
  return { database: env.rests, row: restPrefix(id) + cut.rest };
};

/** Apply the mutations of rows, in their order. Each family has a writer; what they hold is not in the file before the end. */
export const applyRows = (env: LmdbEnv, rows: readonly RowMutation[]): void => {
  const writers = new Map<string, FamilyWriter>();
  const writerOf = (family: string): FamilyWriter => getOrMake(writers, family, () => new FamilyWriter(family));
  const flush = (): void => {
    for (const writer of writers.values()) writer.flush();
  };
  for (const { key, mutations } of rows) {
    const place = placeOf(env, key, mutations);
    if (place === undefined) continue;
    const { database, row } = place;
    for (const mutation of mutations) {
      if (mutation.type === 'set') {
        const { family, qualifier, value, timestampMs } = mutation;
        writerOf(family).set(database, row, qualifier, value, timestampMs);
      } else if (mutation.type === 'delete-cell') {
        writerOf(mutation.family).remove(database, row, mutation.qualifier);
      } else {
        flush();
        // Collected first: removing under a cursor would move it.
        const cells = [...database.getKeys({ start: `${row}\0`, end: `${row}\x01` })];
        for (const cell of cells) database.removeSync(cell);
      }
    }
  }
  flush();
};

/** A cell of a row; undefined when there is none. */
const readCell = (env: LmdbEnv, key: string, family: string, qualifier: string): FoundCell | undefined => {
  const place = placeOf(env, key, []);
  if (place === undefined) return undefined;
  const head = cellKey(place.row, family, '');
  const entry = place.database.getBinary(head);
  if (entry === undefined || !isDirectory(entry)) return entry && findIn(entry, qualifier);
  const blocks = readDirectory(entry);
  const block = place.database.getBinary(blockKey(head, blocks[blockFor(blocks, qualifier)] as string));
  return block && findIn(block, qualifier);
};

/** Whether a predicate holds. */
export const holds = (env: LmdbEnv, key: string, { family, qualifier, value }: Predicate): boolean => {
  const cell = readCell(env, key, family, qualifier);
  return cell !== undefined && (value === undefined || Buffer.compare(cell.value, value) === 0);
};

/** Add to a counter; returns the sum. */
export const increment = (env: LmdbEnv, key: string, { family, qualifier }: Predicate, by: number): number => {
  const cell = readCell(env, key, family, qualifier);
  let sum = BigInt(by);
  if (cell !== undefined) {
    const value = cell.value as Buffer;
    if (value.length !== 8) {
      throw invalidInput(
        `cell ${family}:${qualifier} of row ${JSON.stringify(key)} has ${value.length} bytes and is not a counter (8 bytes)`,
      );
    }
    sum += value.readBigInt64BE();
  }
  if (sum > BigInt(Number.MAX_SAFE_INTEGER) || sum < BigInt(Number.MIN_SAFE_INTEGER)) {
    throw tableLimit(`the counter of row ${JSON.stringify(key)} would leave the safe integers`);
  }
  const value = Buffer.alloc(8);
  value.writeBigInt64BE(sum);
  // The engine's time, as in Bigtable, but never back: a counter must not lose to an older cell of itself.
  const timestampMs = Math.max(timers.wallMs(), cell?.timestampMs ?? 0);
  applyRows(env, [{ key, mutations: [{ type: 'set', family, qualifier, value, timestampMs }] }]);
  return Number(sum);
};
