// Replaces a whole file at once: a reader sees the old content or the new, never a part. What fails leaves the old.

import { open, writeAll } from './append-line.js';
import { notAFile } from './file-error.js';
import type { FsSteps } from './fs-steps.js';

const writeTo = function* (path: string, chunks: Iterable<Buffer>): FsSteps<void> {
  const fd = yield* open(path, 'w');
  try {
    if (!(yield ['fstat', fd]).isFile()) throw notAFile(path);
    for (const chunk of chunks) yield* writeAll(fd, chunk);
  } finally {
    yield ['close', fd];
  }
};

/** `suffix` keeps two writers of one process apart. */
export const replaceFile = function* (path: string, suffix: string, chunks: Iterable<Buffer>): FsSteps<void> {
  const temporary = `${path}.${process.pid}${suffix}.tmp`;
  try {
    yield* writeTo(temporary, chunks);
    yield ['rename', temporary, path];
  } catch (error) {
    try {
      yield ['unlink', temporary];
    } catch {
      // It may never have been made; the first error is the one to tell of.
    }
    throw error;
  }
};
