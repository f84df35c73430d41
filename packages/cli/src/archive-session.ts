// What all commands on an archive share: its directory, Ctrl-C and damaged segments. Must not create a
// directory for a command that only reads, or a mistyped name would become an empty archive.
import { stat } from 'node:fs/promises';
import { Archive, type DamagedSegment } from '@spanline/archive';
import { CommandError, ExitCode, endWith, interruptible } from './exit-code.js';
import type { ArchiveCommandOptions } from './options.js';
import { note, OutputClosed } from './output.js';

/** The directory the command works on. */
export const archiveDirectory = ({
  archive = process.env.SPANLINE_ARCHIVE ?? '',
}: Pick<ArchiveCommandOptions, 'archive'>): string => {
  if (archive !== '') return archive;
  throw new CommandError(
    'ERR_SPANLINE_NO_ARCHIVE',
    'which archive? Give --archive DIR, or set SPANLINE_ARCHIVE',
    ExitCode.usage,
  );
};

/** Throws when there is no such directory. */
export const checkDirectory = async (directory: string): Promise<void> => {
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory() === true) return;
  throw new CommandError(
    'ERR_SPANLINE_NOT_FOUND',
    found === undefined
      ? `there is no archive in ${directory}; spanline serve, spanline trace import and ArchiveReporter make one`
      : `${directory} is not a directory`,
    ExitCode.store,
  );
};

/** Names the files that cannot be read completely. */
export const noteDamage = (damaged: readonly DamagedSegment[]): void => {
  for (const { file, message } of damaged) note(`${file} cannot be read, or not whole; the rest answers: ${message}`);
};

/** The answer was printed but is incomplete. */
const reportDamage = (damaged: readonly DamagedSegment[]): void => {
  noteDamage(damaged);
  if (damaged.length > 0) endWith(ExitCode.store);
};

/** Open the archive to read, run `work`, close it. */
export const withArchive = (
  options: ArchiveCommandOptions,
  work: (archive: Archive, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const directory = archiveDirectory(options);
  return interruptible(async (signal) => {
    await checkDirectory(directory);
    const archive = await Archive.open(directory, { readOnly: true });
    try {
      await work(archive, signal);
      reportDamage((await archive.stats()).damaged);
    } catch (error) {
      // The missing trace may be in a damaged file, and so may output that nobody read.
      const isAnswer = error instanceof CommandError && error.exitCode === ExitCode.findings;
      if (!isAnswer && !(error instanceof OutputClosed)) throw error;
      const { damaged } = await archive.stats();
      reportDamage(damaged);
      throw damaged.length === 0 || !isAnswer
        ? error
        : new CommandError(error.code, error.message, ExitCode.store, { cause: error });
    } finally {
      await archive.close();
    }
  });
};

/** Runs `work`, which opens the archive once it has something to write: a command that fails earlier leaves no empty archive. */
export const withWrittenArchive = (
  options: ArchiveCommandOptions,
  work: (open: () => Promise<Archive>, signal: AbortSignal) => Promise<void>,
  hint?: string,
): Promise<void> => {
  const directory = archiveDirectory(options);
  return interruptible(async (signal) => {
    let opened: Promise<Archive> | undefined;
    const open = (): Promise<Archive> => {
      opened ??= Archive.open(directory);
      return opened;
    };
    try {
      await work(open, signal);
      if (opened !== undefined) reportDamage((await (await opened).stats()).damaged);
    } finally {
      await (await opened)?.close();
    }
  }, hint);
};
