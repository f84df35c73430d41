// What all commands on an archive share: its directory or bucket, Ctrl-C, damaged segments, and what a query took. Must not create a directory for a
// command that only reads, or a mistyped name would become an empty archive.
import { stat } from 'node:fs/promises';
import { Archive, type ArchiveOptions, type DamagedSegment } from '@spanline/archive';
import { isBucket } from 'spanline/internal/base';
import { CommandError, ExitCode, endWith, failed, interruptible } from './exit-code.js';
import type { ReadOptions } from './options.js';
import { note, OutputClosed } from './output.js';

/** The directory the command works on. */
export const archiveDirectory = ({ archive = process.env.SPANLINE_ARCHIVE ?? '' }: ReadOptions): string => {
  if (archive !== '') return archive;
  throw new CommandError(
    'ERR_SPANLINE_NO_ARCHIVE',
    'which archive? Give --archive DIR, or set SPANLINE_ARCHIVE',
    ExitCode.usage,
  );
};

/** Where spans wait for their upload unless a directory is named: each process has one of its own in it. */
const DEFAULT_SPOOL = 'spanline-spool';

/** How an archive at this place is written. */
export const spoolOf = (place: string, spool?: string): Pick<ArchiveOptions, 'spool' | 'spoolIsShared'> => {
  if (!isBucket(place)) return {};
  if (spool !== undefined) return { spool };
  return { spool: process.env.SPANLINE_SPOOL || DEFAULT_SPOOL, spoolIsShared: true };
};

/** How long a person waits for a store that does not answer at all; a service has more patience. */
const FIRST_ANSWER_MS = 15_000;

/** How a command reaches the store of a bucket. */
export const forCommand = (place: string): Pick<ArchiveOptions, 's3'> =>
  isBucket(place) ? { s3: { firstAnswerMs: FIRST_ANSWER_MS } } : {};

/** Throws when there is no such directory. A bucket is asked when it is opened. */
export const checkDirectory = async (directory: string): Promise<void> => {
  if (isBucket(directory)) return;
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw failed(
    'ERR_SPANLINE_NOT_FOUND',
    found === undefined
      ? `there is no archive in ${directory}; spanline serve, spanline trace import and ArchiveReporter make one`
      : `${directory} is not a directory`,
  );
};

/** Names the files that cannot be read completely. */
export const noteDamage = (damaged: readonly DamagedSegment[]): void => {
  for (const { file, message } of damaged) note(`${file} cannot be read, or not whole; the rest answers: ${message}`);
};

/** The answer was printed but is incomplete; whether it is. */
const reportGaps = (damaged: readonly DamagedSegment[], endedSearch?: DamagedSegment): boolean => {
  noteDamage(damaged);
  if (endedSearch !== undefined) note(`${endedSearch.file}: ${endedSearch.message}`);
  const hasGaps = damaged.length > 0 || endedSearch !== undefined;
  if (hasGaps) endWith(ExitCode.store);
  return hasGaps;
};

/** Says what was asked of an object store. */
const explain = (archive: Archive, startMs: number): void => {
  const traffic = archive.traffic();
  const ms = Math.round(performance.now() - startMs);
  if (traffic === undefined) note(`${ms} ms; read from a directory, without requests`);
  else {
    const again = traffic.retries === 0 ? '' : ` (${traffic.retries} of them again)`;
    note(`${ms} ms, ${traffic.requests} requests${again}, ${traffic.bytesRead} bytes read from ${archive.directory}`);
  }
};

const isFinding = (error: unknown): error is CommandError =>
  error instanceof CommandError && error.exitCode === ExitCode.findings;

/** Open the archive to read, run `work`, close it; gives what `work` does. */
export const withArchive = <T>(
  options: ReadOptions,
  work: (archive: Archive, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const directory = archiveDirectory(options);
  return interruptible(async (signal) => {
    await checkDirectory(directory);
    const startMs = performance.now();
    const archive = await Archive.open(directory, { readOnly: true, ...forCommand(directory) });
    try {
      let end: unknown;
      const answer = await work(archive, signal).catch((error: unknown) => {
        // The missing trace may be in a damaged file, and so may output that nobody read.
        if (!isFinding(error) && !(error instanceof OutputClosed)) throw error;
        end = error;
        return undefined;
      });
      if (options.explain) explain(archive, startMs);
      const hasGaps = reportGaps(await archive.damaged(), archive.endedSearch);
      if (hasGaps && isFinding(end)) throw new CommandError(end.code, end.message, ExitCode.store, end);
      if (end !== undefined) throw end;
      return answer as T;
    } finally {
      await archive.close();
    }
  });
};

/** Says what did not get into the bucket, where it is, and how it gets there. */
const noteUnsent = (archive: Archive | undefined): void => {
  const { directory, files, bytes } = archive?.unsent ?? { directory: '', files: 0, bytes: 0 };
  if (files === 0) return;
  note(
    `${files} ${files === 1 ? 'file' : 'files'} with ${bytes} bytes of spans did not get into ${archive?.directory} and ${files === 1 ? 'waits' : 'wait'} in ${directory}: run the command again in this directory, which uploads ${files === 1 ? 'it' : 'them'} and keeps no span twice; or let any process that has the same SPANLINE_SPOOL write to the archive`,
  );
};

/** Runs `work`, which opens the archive once it has something to write: a command that fails earlier leaves no empty archive. */
export const withWrittenArchive = (
  options: ReadOptions,
  work: (open: () => Promise<Archive>, signal: AbortSignal) => Promise<void>,
  hint?: string,
): Promise<void> => {
  const directory = archiveDirectory(options);
  return interruptible(async (signal) => {
    let opened: Promise<Archive> | undefined;
    const open = (): Promise<Archive> => {
      opened ??= Archive.open(directory, { ...spoolOf(directory), ...forCommand(directory) });
      return opened;
    };
    try {
      await work(open, signal);
      if (opened !== undefined) reportGaps((await (await opened).stats()).damaged);
    } finally {
      const archive = await opened;
      await archive?.close();
      noteUnsent(archive);
    }
  }, hint);
};
