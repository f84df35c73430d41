// Changes the cells of one transaction, each family by a writer of its own. What its writers hold is not in the file before `finish`.
import type { Database } from 'lmdb';
import type { Mutation } from '../wide-column-table.js';
import type { EntryKey } from './cell-key.js';
import { FamilyWriter } from './family-writer.js';
import type { LmdbEnv } from './lmdb-env.js';

type Cells = Database<Buffer, EntryKey>;

/** One for each write transaction. */
export class CellWriter {
  readonly #families = new Map<string, FamilyWriter>();

  readonly #env: LmdbEnv;

  constructor(env: LmdbEnv) {
    this.#env = env;
  }

  /** Write a cell unless a newer one is there. */
  set(database: Cells, row: string, { family, qualifier, value, timestampMs }: Mutation & { type: 'set' }): void {
    this.#of(family).set(database, row, qualifier, value, timestampMs);
  }

  /** Remove a cell. */
  remove(database: Cells, row: string, family: string, qualifier: string): void {
    this.#of(family).remove(database, row, qualifier);
  }

  /** Remove all cells of a row. */
  removeRow(database: Cells, row: string): void {
    this.finish();
    // Collected first: removing under a cursor would move it.
    const keys = [...database.getKeys({ start: `${row}\0`, end: `${row}\x01` })];
    for (const key of keys) database.removeSync(key);
  }

  /** Write what is held. */
  finish(): void {
    for (const writer of this.#families.values()) writer.flush();
  }

  #of(family: string): FamilyWriter {
    let writer = this.#families.get(family);
    if (writer === undefined) {
      writer = new FamilyWriter(family, this.#env.hasOldCells);
      this.#families.set(family, writer);
    }
    return writer;
  }
}
