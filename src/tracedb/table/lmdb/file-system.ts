// Says whether a directory can hold an LMDB file: memory maps and locks between processes need a local file system.
import { statfs } from 'node:fs/promises';
import { TraceDbError } from '../../tracedb-error.js';

// Magic numbers of Linux's statfs(2) for file systems whose pages or locks are not coherent between machines.
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
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
]);

/** The name of the network file system with this statfs type, or undefined when it is a local one. */
export const networkFileSystem = (type: number): string | undefined => NETWORK_FILE_SYSTEMS.get(type);

/** Rejects with `ERR_SPANLINE_STORE_FILE_SYSTEM` when `directory` is on a network file system. */
export const checkFileSystem = async (
  directory: string,
  typeOf: (directory: string) => Promise<number> = async (path) => (await statfs(path)).type,
): Promise<void> => {
  const name = networkFileSystem(await typeOf(directory));
  if (name === undefined) return;
  throw new TraceDbError(
    'ERR_SPANLINE_STORE_FILE_SYSTEM',
    `${directory} is on ${name}, which cannot keep a memory-mapped store in order between processes; ` +
      'use a local disk, or a bigtable:// store to share it between machines',
  );
};
