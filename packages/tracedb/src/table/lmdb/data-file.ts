// Looks at a directory and its data file before LMDB maps the file. Memory maps and locks between processes need a local file system; a foreign file,
// or one that was cut off, would end the process instead of giving an error. It must not refuse a file that LMDB would read: a whole one may be
// shorter than it says, since pages that nothing refers to are not written.

import { readSync } from 'node:fs';
import { type FileHandle, open, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isGone } from 'spanline/internal/base';
import { storeCorrupt, TraceDbError } from '../../tracedb-error.js';

// Magic numbers of Linux's statfs(2) for file systems whose pages or locks are not coherent between machines, and for those that hold
// no files of anybody's: Node's recursive mkdir never ends in /proc.
const UNFIT_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x5346414f, 'AFS'],
  [0x73757245, 'Coda'],
  [0x01161970, 'GFS2'],
  [0x65735546, 'FUSE'],
  [0x9fa0, 'proc'],
  [0x62656572, 'sysfs'],
]);

/** The name of the file system with this statfs type when no store can be on it. */
export const unfitFileSystem = (type: number): string | undefined => UNFIT_FILE_SYSTEMS.get(type);

/** The directory, or the one above it that exists. */
const existing = async (directory: string): Promise<string> => {
  for (let path = resolve(directory); ; path = dirname(path)) {
    try {
      await stat(path);
      return path;
    } catch (error) {
      if (!isGone(error) || path === dirname(path)) throw error;
    }
  }
};

/** Rejects with `ERR_SPANLINE_STORE_FILE_SYSTEM` when `directory` is, or would be made, where no store can be. */
export const checkFileSystem = async (
  directory: string,
  typeOf: (directory: string) => Promise<number> = async (path) => (await statfs(await existing(path))).type,
): Promise<void> => {
  const name = unfitFileSystem(await typeOf(directory));
  if (name === undefined) return;
  throw new TraceDbError(
    'ERR_SPANLINE_STORE_FILE_SYSTEM',
    `${directory} is on ${name}, which cannot hold a memory-mapped store that processes share; ` +
      'use a local disk, or a bigtable:// store to share it between machines',
  );
};

// Places in LMDB's data format 2: page header, meta page, database record, node.
export const MAGIC = 0xbeefc0de;
const FORMAT = 2;
const HEADER_BYTES = 24;
const META = {
  magic: 24,
  version: 28,
  pageBytes: 48,
  freeDb: 48,
  mainDb: 96,
  lastPage: 144,
  transaction: 152,
  end: 160,
};
const DB = { depth: 6, root: 40 };
const PAGE = { flags: 18, lower: 20 };
const NODE = { flags: 4, keyBytes: 6, data: 8 };
const BRANCH = 1;
const SUB_DATABASE = 2;
const NO_PAGE = 2n ** 64n - 1n;

/** Pages of a short file that are looked at, 64 MB of them; what refers to a page that is missing is nearly always among them. */
const MAX_PAGES_READ = 8192;

/** Looks at a file that is being written. */
const MAX_LOOKS = 100;

const damaged = (file: string, what: string): TraceDbError =>
  storeCorrupt(`${file} ${what}; restore a copy, or name another directory`);

const read = async (file: FileHandle, position: number, bytes: number): Promise<Buffer> => {
  const buffer = Buffer.alloc(bytes);
  const { bytesRead } = await file.read(buffer, 0, bytes, position);
  return buffer.subarray(0, bytesRead);
};

const isMeta = (meta: Buffer): boolean => meta.length === META.end && meta.readUInt32LE(META.magic) === MAGIC;

/** Whether the trees in a file refer to a page behind its end. */
const refersBehindEnd = async (file: FileHandle, meta: Buffer, pageBytes: number, pages: number): Promise<boolean> => {
  let pagesRead = 0;
  /** `depth` is that of the tree below `root`; leaves are only read where databases are kept in them. */
  const visit = async (root: bigint, depth: number, hasDatabases: boolean): Promise<boolean> => {
    if (root === NO_PAGE) return false;
    if (root >= BigInt(pages)) return true;
    if ((depth <= 1 && !hasDatabases) || pagesRead >= MAX_PAGES_READ) return false;
    pagesRead++;
    const page = await read(file, Number(root) * pageBytes, pageBytes);
    const isBranch = (page.readUInt16LE(PAGE.flags) & BRANCH) !== 0;
    const nodes = page.readUInt16LE(PAGE.lower) >> 1;
    for (let i = 0; i < nodes; i++) {
      const node = page.readUInt16LE(HEADER_BYTES + 2 * i) + HEADER_BYTES;
      if (isBranch) {
        const child = page.readUIntLE(node, 6);
        if (await visit(BigInt(child), depth - 1, hasDatabases)) return true;
      } else if ((page.readUInt16LE(node + NODE.flags) & SUB_DATABASE) !== 0) {
        const database = node + NODE.data + page.readUInt16LE(node + NODE.keyBytes);
        const inner = page.readBigUInt64LE(database + DB.root);
        if (await visit(inner, page.readUInt16LE(database + DB.depth), false)) return true;
      }
    }
    return false;
  };
  for (const at of [META.freeDb, META.mainDb]) {
    const isBehind = visit(meta.readBigUInt64LE(at + DB.root), meta.readUInt16LE(at + DB.depth), at === META.mainDb);
    if (await isBehind) return true;
  }
  return false;
};

/** The two meta pages, of which the newer one counts. */
interface Metas {
  readonly first: Buffer;
  readonly second: Buffer;
}

const readMetas = async (file: FileHandle): Promise<Metas> => {
  const first = await read(file, 0, META.end);
  const pageBytes = isMeta(first) ? first.readUInt32LE(META.pageBytes) : 0;
  return { first, second: await read(file, pageBytes, META.end) };
};

/** What is wrong with the file, if anything is. */
const problemOf = async (file: FileHandle, { first, second }: Metas): Promise<string | undefined> => {
  // After the meta pages were read: what they refer to was written before them, and the file only grows.
  const { size } = await file.stat();
  if (first.length === 0) return undefined;
  if (!isMeta(first)) return 'is not an LMDB file, or damaged';
  // Of a format that this does not know; LMDB refuses it by itself.
  if ((first.readUInt32LE(META.version) & 0xffff) !== FORMAT) return undefined;
  if (!isMeta(second)) return 'is damaged: its second page is not what LMDB writes there';
  const pageBytes = first.readUInt32LE(META.pageBytes);
  const isNewer = second.readBigUInt64LE(META.transaction) > first.readBigUInt64LE(META.transaction);
  const meta = isNewer ? second : first;
  const pages = Math.floor(size / pageBytes);
  if (meta.readBigUInt64LE(META.lastPage) < BigInt(pages)) return undefined;
  try {
    if (!(await refersBehindEnd(file, meta, pageBytes, pages))) return undefined;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  return `is damaged: it was cut off after ${size} bytes`;
};

/** The number of the newest commit in the open data file of a store. */
export const newestCommit = (data: number): bigint => {
  const meta = Buffer.alloc(META.end);
  readSync(data, meta, 0, META.end, 0);
  const first = meta.readBigUInt64LE(META.transaction);
  readSync(data, meta, 0, META.end, meta.readUInt32LE(META.pageBytes));
  const second = meta.readBigUInt64LE(META.transaction);
  return first > second ? first : second;
};

const check = async (file: FileHandle, path: string): Promise<void> => {
  for (let look = 1; ; look++) {
    const metas = await readMetas(file);
    const problem = await problemOf(file, metas);
    if (problem === undefined) return;
    // What is read while another process writes is of two states, and together it may be nonsense. Nobody writes to a damaged file.
    const { first, second } = await readMetas(file);
    if (look === MAX_LOOKS || (first.equals(metas.first) && second.equals(metas.second))) throw damaged(path, problem);
  }
};

/** Rejects with `ERR_SPANLINE_STORE_CORRUPT` when the data file in `directory` would crash the process; a missing one is fine. */
export const checkDataFile = async (directory: string): Promise<void> => {
  const path = join(directory, 'data.mdb');
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    // Missing, or LMDB says better why it cannot be read.
    return;
  }
  try {
    await check(file, path);
  } finally {
    await file.close();
  }
};
