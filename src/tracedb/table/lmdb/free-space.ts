// Asks a disk for room by taking it for a moment: what statfs says leaves out quotas.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

let probes = 0;

/** Whether a file of so many bytes finds no room in `directory`; false when that cannot be told. */
export const isDiskFull = async (directory: string, bytes: number): Promise<boolean> => {
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
