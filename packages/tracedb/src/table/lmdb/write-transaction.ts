// Write transactions that begin at the newest commit. The engine may begin one at an older commit: a process that opens a store tells all
// others which commit it found newest, and another may have been made since (mdb_env_open2 of lmdb 3.5). What such a transaction wrote
// would undo that commit and use its pages again, so it must write nothing: the number is set right, and it begins anew.
import { closeSync, openSync, readdirSync, readlinkSync, readSync, realpathSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { TraceDbError } from '../../tracedb-error.js';
import type { EntryKey } from './cell-key.js';
import { MAGIC, newestCommit } from './data-file.js';

// Places in LMDB's lock file, on a machine of 64 bits.
const LOCK = { magic: 0, newest: 8, end: 16 };

/** Openings in a row between which no transaction got through. */
const MAX_ATTEMPTS = 100;

/**
 * The descriptor by which the engine itself holds the lock file. Closing any other descriptor of the file would give up the locks by which
 * other processes know that this one lives, so another one is opened only where the engine's cannot be found, and is never closed.
 */
const lockDescriptor = (directory: string): number => {
  const path = join(realpathSync(directory), 'lock.mdb');
  try {
    for (const name of readdirSync('/proc/self/fd')) {
      try {
        if (readlinkSync(`/proc/self/fd/${name}`) === path) return Number(name);
      } catch {
        // The descriptor of the list itself.
      }
    }
  } catch {
    // No Linux.
  }
  return openSync(path, 'r+');
};

/** Runs the write transactions of one open store. */
export class WriteTransactions {
  readonly #root: RootDatabase<Buffer, EntryKey>;
  readonly #directory: string;
  readonly #data: number;
  #lock: number | undefined;
  #isClosed = false;

  /** @param isReadOnly The disk takes no write. */
  constructor(
    root: RootDatabase<Buffer, EntryKey>,
    directory: string,
    readonly isReadOnly: boolean,
  ) {
    this.#root = root;
    this.#directory = directory;
    this.#data = openSync(join(directory, 'data.mdb'), 'r');
  }

  /** Run `change` in a transaction, once; a throw of it does not undo what it wrote. */
  async run<T>(change: () => T): Promise<T> {
    if (this.isReadOnly)
      throw new TraceDbError(
        'ERR_SPANLINE_STORE_UNAVAILABLE',
        `the disk of the store ${this.#directory} is read-only: mount it to write, or write to a copy of the store`,
      );
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const made = await this.#root.transaction(() => (this.#isNewest() ? { value: change() } : undefined));
      if (made !== undefined) return made.value;
    }
    throw new TraceDbError(
      'ERR_SPANLINE_STORE_UNAVAILABLE',
      `${this.#directory} is being opened by other processes all the time, so that no write begins at its newest commit; try again later`,
    );
  }

  /** To be called when no transaction is running. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#data);
  }

  /** Whether the running transaction began at the newest commit; if not, later ones will. */
  #isNewest(): boolean {
    const newest = newestCommit(this.#data);
    if (BigInt(this.#root.getWriteTxnId()) === newest + 1n) return true;
    this.#lock ??= lockDescriptor(this.#directory);
    const lock = Buffer.alloc(LOCK.end);
    readSync(this.#lock, lock, 0, LOCK.end, 0);
    // Another transaction of the same batch may have set it right. Nobody else can be writing.
    if (lock.readUInt32LE(LOCK.magic) === MAGIC && lock.readBigUInt64LE(LOCK.newest) < newest) {
      lock.writeBigUInt64LE(newest, LOCK.newest);
      writeSync(this.#lock, lock, LOCK.newest, LOCK.end - LOCK.newest, LOCK.newest);
    }
    return false;
  }
}
