// Applies mutations inside an open write transaction. Everything here is synchronous: a pause would let another writer's batch in.
import type { Database } from 'lmdb';
import { timers } from 'spanline/internal/base';
import { invalidInput, tableLimit } from '../../tracedb-error.js';
import type { Mutation, Predicate, RowMutation } from '../wide-column-table.js';
import { BlockCursor } from './cell-block.js';
import {
  blockFor,
  blockKey,
  cellKey,
  cutRow,
  type EntryKey,
  headKey,
  isDirectory,
  readDirectory,
  restPrefix,
} from './cell-key.js';
import { FamilyWriter } from './family-writer.js';
import type { LmdbEnv } from './lmdb-env.js';

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

/** A cell of a row; undefined when there is none. */
const findCell = (
  database: Database<Buffer, EntryKey>,
  row: string,
  family: string,
  qualifier: string,
): FoundCell | undefined => {
  const head = cellKey(row, family, '');
  const entry = database.getBinary(head);
  if (entry === undefined) return undefined;
  if (!isDirectory(entry)) return findIn(entry, qualifier);
  const blocks = readDirectory(entry);
  const block = database.getBinary(blockKey(head, blocks[blockFor(blocks, qualifier)] as string));
  return block && findIn(block, qualifier);
};

/** Where the cells of one row are. */
interface Place {
  readonly database: Database<Buffer, EntryKey>;
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
  const writerOf = (family: string): FamilyWriter => {
    let writer = writers.get(family);
    if (writer === undefined) {
      writer = new FamilyWriter(family);
      writers.set(family, writer);
    }
    return writer;
  };
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

const readCell = (env: LmdbEnv, key: string, family: string, qualifier: string): FoundCell | undefined => {
  const place = placeOf(env, key, []);
  return place && findCell(place.database, place.row, family, qualifier);
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
