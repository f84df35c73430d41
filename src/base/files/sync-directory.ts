// Makes new names in a directory survive a power failure. It must not fail: not every file system can sync a directory, and those that cannot
// need not; the file itself is synced by its writer.
import type { FsSteps } from './fs-steps.js';

export const syncDirectory = function* (path: string): FsSteps<void> {
  let descriptor: number | undefined;
  try {
    descriptor = yield ['open', path, 'r'];
    yield ['fsync', descriptor as number];
  } catch {
    // Only the name may be the old one after a power failure.
  } finally {
    if (descriptor !== undefined) yield ['close', descriptor];
  }
};
