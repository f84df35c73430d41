// Writes the cells of one transaction. An older cell must never replace a newer one; what makes that cheap is that the store knows the
// newest time of each family: a cell that is not older than it needs no look at what is there.
import type { Database } from 'lmdb';
import type { Mutation } from '../wide-column-table.js';
import { cellKeyEnd, type EntryKey } from './cell-key.js';
import { cellTime, encodeCell } from './cell-value.js';
import type { LmdbEnv } from './lmdb-env.js';
import { newestTime, putNewestTime } from './newest-time.js';

const NO_OVERWRITE = { noOverwrite: true };

/** What the cells of one family share. Many are the same but for their row, such as the empty cells of an index. */
interface FamilyState {
  readonly stored: number;
  newest: number;
  qualifier: string;
  keyEnd: string;
  value: Uint8Array | undefined;
  timestampMs: number;
  bytes: Buffer;
}

const NO_BYTES = Buffer.alloc(0);

/** One for each write transaction; values must not change before its end. `finish` belongs to it even when it fails. */
export class CellWriter {
  private readonly families = new Map<string, FamilyState>();

  constructor(private readonly env: LmdbEnv) {}

  /** Write a cell unless a newer one is there. */
  set(database: Database<Buffer, EntryKey>, row: string, mutation: Mutation & { type: 'set' }): void {
    const { family, qualifier, value, timestampMs } = mutation;
    const state = this.families.get(family) ?? this.begin(family);
    if (qualifier !== state.qualifier) {
      state.qualifier = qualifier;
      state.keyEnd = cellKeyEnd(family, qualifier);
    }
    if (value !== state.value || timestampMs !== state.timestampMs) {
      state.value = value;
      state.timestampMs = timestampMs;
      state.bytes = encodeCell(value, timestampMs);
    }
    const key = row + state.keyEnd;
    if (timestampMs >= state.newest) {
      state.newest = timestampMs;
      database.putSync(key, state.bytes);
    } else {
      setOlder(database, key, state.bytes, timestampMs);
    }
  }

  /** Note the newest times. */
  finish(): void {
    for (const [family, { stored, newest }] of this.families) {
      if (newest > stored) putNewestTime(this.env.meta, family, newest);
    }
  }

  private begin(family: string): FamilyState {
    const stored = newestTime(this.env.meta, family);
    const state = {
      stored,
      newest: stored,
      qualifier: '',
      keyEnd: cellKeyEnd(family, ''),
      value: undefined,
      timestampMs: 0,
      bytes: NO_BYTES,
    };
    this.families.set(family, state);
    return state;
  }
}

const setOlder = (database: Database<Buffer, EntryKey>, key: string, bytes: Buffer, timestampMs: number): void => {
  // Most cells are new: one call finds that out and writes. (lmdb types its answer as void.)
  const isNew = database.putSync(key, bytes, NO_OVERWRITE) as unknown as boolean;
  if (isNew) return;
  const old = database.getBinaryFast(key);
  if (old !== undefined && cellTime(old) > timestampMs) return;
  database.putSync(key, bytes);
};
