// A directory for an archive of one test, what is in it, and the spans that tests put there.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import { Archive } from '../../../src/archive.js';
import type { ArchiveOptions } from '../../../src/archive-options.js';
import { byId, collect } from '../../segment/support/segments.js';

export const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-archive-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};

/** An archive that is closed when the test is over. */
export const openArchive = async (directory: string, options?: ArchiveOptions): Promise<Archive> => {
  const archive = await Archive.open(directory, options);
  onTestFinished(() => archive.close());
  return archive;
};

/** Files of a directory that match, sorted. */
export const filesOf = (directory: string, form: RegExp): string[] =>
  readdirSync(directory)
    .filter((name) => form.test(name))
    .sort();

export const SEGMENT = /^seg-.*\.(spans|unsorted)$/;
export const UNSORTED = /^seg-.*\.unsorted$/;
export const WAL = /^wal-.*\.log$/;

/** Every span of an archive, as often as it comes. */
export const allSpans = async (archive: Archive): Promise<ArchivedSpan[]> =>
  byId((await collect(archive.scan())).flat());
