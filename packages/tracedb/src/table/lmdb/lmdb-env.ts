// The LMDB file: its databases, and how it is opened. Settings here decide what a crash can do: every commit is flushed before it
// is acknowledged, and nothing is written through the map.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database, DatabaseOptions, RootDatabase } from 'lmdb';
import { makeDirectory } from 'spanline/internal/base';
import { noTable, storeCorrupt, TraceDbError } from '../../tracedb-error.js';
import { valueOfJson } from '../cells.js';
import { checkFamilyNames } from '../limits.js';
import type { TableSchema } from '../wide-column-table.js';
import { type EntryKey, KEY_ENCODER } from './cell-key.js';
import { checkDataFile, checkFileSystem } from './data-file.js';
import { diskFull, isDiskFull, writeError } from './lmdb-errors.js';
import { WriteTransactions } from './write-transaction.js';

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

const parseSchema = (bytes: Buffer, location: string): Schema => {
  const schema = valueOfJson(bytes) as Schema | null | undefined;
  if (schema?.version === FORMAT_VERSION && Array.isArray(schema.families)) return schema;
  throw foreign(location);
};

const putSchema = (meta: Database<Buffer, EntryKey>, schema: Schema): void => {
  meta.putSync(SCHEMA_KEY, Buffer.from(JSON.stringify(schema)));
};

const readSchema = (meta: Database<Buffer, EntryKey>, location: string): Schema | undefined => {
  const bytes = meta.getBinary(SCHEMA_KEY);
  return bytes && parseSchema(bytes, location);
};

const readOrCreateSchema = async (
  meta: Database<Buffer, EntryKey>,
  writes: WriteTransactions,
  wanted: TableSchema,
  location: string,
): Promise<Schema> => {
  const empty: Schema = { version: FORMAT_VERSION, families: [] };
  const found = readSchema(meta, location) ?? empty;
  const missing = wanted.families.filter((family) => !found.families.includes(family));
  if (missing.length === 0) return found;
  if (wanted.make === false || writes.isReadOnly) throw noTable(location, missing);
  return writes.run(() => {
    // Again inside the transaction: another process may have come first.
    const old = readSchema(meta, location) ?? empty;
    const schema = { ...old, families: [...new Set([...old.families, ...wanted.families])].sort() };
    checkFamilyNames(schema.families);
    putSchema(meta, schema);
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
const isOnReadOnlyDisk = async (directory: string): Promise<boolean> => {
  try {
    await access(join(directory, 'data.mdb'), constants.W_OK);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
};

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
