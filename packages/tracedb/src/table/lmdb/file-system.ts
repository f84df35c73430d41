// Says whether a directory can hold an LMDB file: memory maps and locks between processes need a local file system.
import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { TraceDbError } from '../../tracedb-error.js';

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
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || path === dirname(path)) throw error;
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
