// The LMDB file: its databases, how it is opened, its write transactions, and what fails, as our errors. Settings here decide what a crash can do:
// every commit is flushed before it is acknowledged, and nothing is written through the map. A write transaction must begin at the newest commit. The
// engine may begin one at an older one: a process that opens a store tells all others which commit it found newest, and another may have been made
// since (mdb_env_open2 of lmdb 3.5). What such a transaction wrote would undo that commit and use its pages again, so it must write nothing: the
// number is set right, and it begins anew. The reason of a failed commit is in a promise of its own, which must be handled even when nobody wants it;
// a disk that fills up in the middle of a write shows as an input/output error, so the disk is asked.

import { closeSync, constants, openSync, readdirSync, readlinkSync, readSync, realpathSync, writeSync } from 'node:fs';
import { access, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, DatabaseOptions, RootDatabase } from 'lmdb';
import { attempt, makeDirectory } from 'spanline/internal/base';
import { noTable, storeCorrupt, TraceDbError, type TraceDbErrorCode } from '../../tracedb-error.js';
import { valueOfJson } from '../cells.js';
import { checkFamilyNames } from '../checked-table.js';
import type { TableSchema } from '../wide-column-table.js';
import { type EntryKey, KEY_ENCODER } from './cell-key.js';
import { checkDataFile, checkFileSystem, MAGIC, newestCommit } from './data-file.js';

const RULES: readonly (readonly [pattern: RegExp, code: TraceDbErrorCode, remedy: string])[] = [
  [
    /No space left|ENOSPC|MDB_MAP_FULL|mapsize|Disk quota|EDQUOT|File too large|EFBIG/i,
    'ERR_SPANLINE_STORE_FULL',
    'free space on its disk and try again; nothing of this call was written',
  ],
  [
    /Permission denied|EACCES|EPERM|Read-only file system|EROFS/i,
    'ERR_SPANLINE_STORE_UNAVAILABLE',
    'give this user the right to write to the directory',
  ],
  [/ENOTDIR|EEXIST|Not a directory/i, 'ERR_SPANLINE_INVALID_INPUT', 'name a directory, not a file'],
  [
    /MDB_INVALID|MDB_CORRUPTED|MDB_PAGE_NOTFOUND|MDB_VERSION_MISMATCH|not an LMDB file/i,
    'ERR_SPANLINE_STORE_CORRUPT',
    'it is not a store of this package or is damaged; restore a copy',
  ],
  [
    /MDB_PANIC/i,
    'ERR_SPANLINE_STORE_UNAVAILABLE',
    'its disk failed in the middle of a commit; close it and open it again',
  ],
  [/MDB_READERS_FULL/i, 'ERR_SPANLINE_STORE_UNAVAILABLE', 'too many processes read it; end some'],
];

/** The error of a store whose disk has no room. */
const diskFull = (location: string, cause?: unknown): TraceDbError =>
  lmdbError(new Error('No space left on device', { cause }), location);

/** `cause` as a TraceDbError that names the store. */
export const lmdbError = (cause: unknown, location: string): TraceDbError => {
  if (cause instanceof TraceDbError) return cause;
  const text =
    cause instanceof Error ? `${cause.message} ${(cause as NodeJS.ErrnoException).code ?? ''}` : String(cause);
  const rule = RULES.find(([pattern]) => pattern.test(text));
  const [, code, remedy] = rule ?? [undefined, 'ERR_SPANLINE_STORE_UNAVAILABLE' as const, 'see the cause'];
  return new TraceDbError(code, `the store ${location} failed: ${text.trim()}; ${remedy}`, { cause });
};

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

let probes = 0;

/** Whether a file of so many bytes finds no room in `directory`; false when that cannot be told. */
const isDiskFull = async (directory: string, bytes: number): Promise<boolean> => {
  const probe = join(directory, `probe-${process.pid}-${++probes}.tmp`);
  try {
    await writeFile(probe, Buffer.alloc(bytes));
    return false;
  } catch (error) {
    return FULL.has((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
};

const MIN_PROBE_BYTES = 1024 * 1024;
const MAX_PROBE_BYTES = 64 * 1024 * 1024;

const commitError = async (cause: unknown): Promise<unknown> => {
  const { commitError: promise } = cause as { readonly commitError?: unknown };
  return promise instanceof Promise ? promise.catch((error: unknown) => error) : cause;
};

/** What a write of so many bytes failed with, as a TraceDbError that names the store. */
export const writeError = async (failure: unknown, directory: string, bytes: number): Promise<TraceDbError> => {
  if (failure instanceof TraceDbError) return failure;
  const cause = await commitError(failure);
  if (/Input\/output error|EIO/.test(String(cause))) {
    // Pages, and the calls that lmdb made one transaction of, take more than the bytes of one call.
    const probeBytes = Math.min(MAX_PROBE_BYTES, Math.max(MIN_PROBE_BYTES, 4 * bytes));
    if (await isDiskFull(directory, probeBytes)) return diskFull(directory, cause);
  }
  return lmdbError(cause, directory);
};

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
      // It fails for the descriptor of the list itself.
      if (attempt(() => readlinkSync(`/proc/self/fd/${name}`)) === path) return Number(name);
    }
  } catch {
    // No Linux.
  }
  return openSync(path, 'r+');
};

/** Runs the write transactions of one open store. */
class WriteTransactions {
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

const FORMAT_VERSION = 2;
const SCHEMA_KEY = 'schema';
/** The databases in the file. */
const NAMES: readonly string[] = ['meta', 'cells', 'rests'];
// Room for keys of up to 4,026 bytes; pages of 4,096 take only 1,978.
const PAGE_BYTES = 8192;
// More than the files of an empty store have.
const NEW_STORE_BYTES = 1024 * 1024;

/** The open databases of a store. */
export interface LmdbEnv {
  readonly directory: string;
  readonly root: RootDatabase<Buffer, EntryKey>;
  readonly writes: WriteTransactions;
  /** The schema. */
  readonly meta: Database<Buffer, EntryKey>;
  /** Cells of rows, and the heads of long ones. */
  readonly cells: Database<Buffer, EntryKey>;
  /** Cells of long rows, by the number of their head. */
  readonly rests: Database<Buffer, EntryKey>;
  readonly families: ReadonlySet<string>;
}

// `keyEncoder` is documented by lmdb for every database but missing from the type.
const DATABASE = { encoding: 'binary', keyEncoder: KEY_ENCODER } as DatabaseOptions;

interface Schema {
  readonly version: number;
  readonly families: readonly string[];
}

const foreign = (location: string): TraceDbError =>
  storeCorrupt(
    `${location} holds no table of format ${FORMAT_VERSION}; it was written by another program or another version`,
  );

/** Throws when the file has something that is not ours, before anything is added to it. */
const checkOurs = (root: RootDatabase<Buffer, EntryKey>, location: string): void => {
  for (const name of root.getKeys({ limit: NAMES.length + 1 })) {
    // Names are kept with the NUL at their end.
    if (!NAMES.includes((name as string).replace(/\0$/, ''))) throw foreign(location);
  }
};

const readSchema = (meta: Database<Buffer, EntryKey>, location: string): Schema => {
  const bytes = meta.getBinary(SCHEMA_KEY);
  if (bytes === undefined) return { version: FORMAT_VERSION, families: [] };
  const schema = valueOfJson(bytes) as Schema | null | undefined;
  if (schema?.version === FORMAT_VERSION && Array.isArray(schema.families)) return schema;
  throw foreign(location);
};

const readOrCreateSchema = async (
  meta: Database<Buffer, EntryKey>,
  writes: WriteTransactions,
  wanted: TableSchema,
  location: string,
): Promise<Schema> => {
  const found = readSchema(meta, location);
  const missing = wanted.families.filter((family) => !found.families.includes(family));
  if (missing.length === 0) return found;
  if (wanted.make === false || writes.isReadOnly) throw noTable(location, missing);
  return writes.run(() => {
    // Again inside the transaction: another process may have come first.
    const old = readSchema(meta, location);
    const schema = { ...old, families: [...new Set([...old.families, ...wanted.families])].sort() };
    checkFamilyNames(schema.families);
    meta.putSync(SCHEMA_KEY, Buffer.from(JSON.stringify(schema)));
    return schema;
  });
};

/** Making the files where there is no room for them would end the process: they are written through memory maps. */
const checkRoom = async (directory: string): Promise<void> => {
  try {
    for (const file of ['data.mdb', 'lock.mdb']) await access(join(directory, file));
  } catch {
    if (await isDiskFull(directory, NEW_STORE_BYTES)) throw diskFull(directory);
  }
};

/** Whether its disk is mounted read-only. A store there can be read: nobody changes it, so that it needs no locks. */
const isOnReadOnlyDisk = (directory: string): Promise<boolean> =>
  access(join(directory, 'data.mdb'), constants.W_OK).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code === 'EROFS',
  );

// lmdb comes with binaries for usual platforms, as optional packages; elsewhere a script compiles it, which package managers may leave out.
const loadLmdb = async (directory: string): Promise<typeof import('lmdb')> => {
  try {
    return await import('lmdb');
  } catch (cause) {
    const platform = `${process.platform}-${process.arch}`;
    const remedy = 'install with optional packages (npm install --include=optional), or compile it: npm rebuild lmdb';
    const message = `the store ${directory} needs the package lmdb, which does not load its binary for ${platform}: ${remedy}`;
    throw new TraceDbError('ERR_SPANLINE_MISSING_PACKAGE', message, { cause });
  }
};

/** Open or create the store in `directory`. */
export const openLmdbEnv = async (directory: string, schema: TableSchema): Promise<LmdbEnv> => {
  checkFamilyNames(schema.families);
  const lmdb = await loadLmdb(directory);
  let root: RootDatabase<Buffer, EntryKey> | undefined;
  let writes: WriteTransactions | undefined;
  try {
    const readOnly = await isOnReadOnlyDisk(directory);
    await checkFileSystem(directory);
    makeDirectory(directory);
    if (!readOnly) await checkRoom(directory);
    await checkDataFile(directory);
    root = lmdb.open<Buffer, EntryKey>({
      path: directory,
      readOnly,
      // A name with a dot would otherwise be taken for a file's.
      noSubdir: false,
      pageSize: PAGE_BYTES,
      encoding: 'binary',
      keyEncoder: KEY_ENCODER,
      maxDbs: 4,
      // The commit itself waits for the disk, so an acknowledged write survives a power failure.
      overlappingSync: false,
      commitDelay: 0,
      // Else every turn of the event loop has a promise of its own, whose rejection nobody can handle when a commit fails.
      eventTurnBatching: false,
    });
    // Frees the places of readers that were killed; they would keep old pages from being used again.
    if (!readOnly) root.readerCheck();
    writes = new WriteTransactions(root, directory, readOnly);
    // Opening may itself have hidden the newest commit, from readers too.
    if (!readOnly) await writes.run(() => undefined);
    root.resetReadTxn();
    checkOurs(root, directory);
    const meta = root.openDB<Buffer, EntryKey>({ ...DATABASE, name: 'meta' });
    const { families } = await readOrCreateSchema(meta, writes, schema, directory);
    return {
      directory,
      root,
      writes,
      meta,
      cells: root.openDB<Buffer, EntryKey>({ ...DATABASE, name: 'cells' }),
      rests: root.openDB<Buffer, EntryKey>({ ...DATABASE, name: 'rests' }),
      families: new Set(families),
    };
  } catch (cause) {
    await root?.close().catch(() => {});
    writes?.close();
    throw await writeError(cause, directory, NEW_STORE_BYTES);
  }
};
