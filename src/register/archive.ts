// The archive that the environment names: opened, given the event-loop timeline second by second, which `spanline trace show` and `spanline stalls` read, and
// in a bucket sealed before the process ends, or what it holds waits in the spool for the next process that has it. It must hold an end back for a bounded
// time only, never end in a circle of further ends, and never throw; what cannot be written is left out, and the archive counts it.
import { createRequire } from 'node:module';
import { attempt } from '../base/calls/attempt.js';
import { timers, within } from '../base/calls/timers.js';
import { SpanlineError } from '../base/errors.js';
import { isBucket } from '../base/options/checks.js';
import { missingPackage } from '../base/packages.js';
import type { Collector } from '../collector/collector.js';
import { onSignal } from '../collector/exit.js';
import type { Reporter, Resource } from '../collector/reporter.js';
import type { Timeline } from '../flight-recorder/timeline/timeline.js';
import type { TimelineRow } from '../flight-recorder/timeline/timeline-row.js';
import { ownResource } from '../formats/library.js';
import type { ArchivedResource } from '../record/archived-span.js';
import { requiresOf } from './find-api.js';
import type { Log } from './log.js';

/** What is asked of an archive. */
interface KeptArchive {
  appendTimeline(rows: readonly TimelineRow[], resource: ArchivedResource, fromUs: number, toUs: number): void;
  seal(): Promise<void>;
}

type ArchivePackage = typeof import('@spanline/archive');

/** The package that one of these finds; one that is found and cannot be loaded throws. */
const foundBy = (requires: readonly NodeJS.Require[]): ArchivePackage | undefined => {
  for (const require of requires) {
    const file = attempt(() => require.resolve('@spanline/archive'));
    if (file !== undefined) return require(file) as ArchivePackage;
  }
  return undefined;
};

/** What `spanline run` has, which is of this very version; what lies beside this package; what the program has, where this package lies elsewhere. */
const archivePackage = async (): Promise<ArchivePackage> => {
  const { SPANLINE_RUN: command } = process.env;
  const ofCommand = foundBy(command ? (attempt(() => [createRequire(command)]) ?? []) : []);
  if (ofCommand !== undefined) return ofCommand;
  try {
    return await import('@spanline/archive');
  } catch (error) {
    const ofProgram = foundBy(requiresOf());
    if (ofProgram !== undefined) return ofProgram;
    throw missingPackage(
      error,
      '@spanline/archive',
      'SPANLINE_ARCHIVE',
      (message, options) => new SpanlineError('ERR_SPANLINE_MISSING_PACKAGE', message, options),
    );
  }
};

/** An archive, and what writes to it. */
export interface OpenedArchive {
  readonly archive: KeptArchive;
  readonly reporter: Reporter & { stats(): Readonly<Record<string, number>> };
  readonly isInBucket: boolean;
}

/**
 * The archive in `directory`, or in a bucket by way of a directory in `spool`, and what writes to it; undefined, with a line that gives the reason,
 * where it cannot be opened.
 */
export const openArchive = async (directory: string, spool: string, log: Log): Promise<OpenedArchive | undefined> => {
  try {
    const { Archive, ArchiveReporter } = await archivePackage();
    const isInBucket = isBucket(directory);
    const archive = await Archive.open(
      directory,
      isInBucket ? { spool, spoolIsShared: true, onNotice: (line) => log.warn(line) } : {},
    );
    return { archive, reporter: new ArchiveReporter(archive), isInBucket };
  } catch (error) {
    log.error(`no traces are kept in ${directory}: ${(error as Error).message}`);
    return undefined;
  }
};

const INTERVAL_MS = 1000;
// A stretch that goes on is there up to now, and will be there again when it has ended.
const SETTLED_US = 20_000;

/** Puts the timeline into the archive that the traces of its process go to. */
export const keepTimeline = (archive: KeptArchive, timeline: Timeline, resource: Resource): void => {
  const owner = ownResource(resource);
  let fromUs = timers.wallMs() * 1000;
  const append = (settledUs: number): void => {
    const toUs = timers.wallMs() * 1000 - settledUs;
    if (toUs <= fromUs) return;
    const rows = timeline.rows(fromUs).filter(({ endUs }) => endUs > fromUs && endUs <= toUs);
    try {
      archive.appendTimeline(rows, owner, fromUs, toUs);
    } catch {
      // The archive is closed, or takes no more.
    }
    fromUs = toUs;
  };
  timers.setInterval(() => append(SETTLED_US), INTERVAL_MS).unref();
  process.prependListener('exit', () => append(0));
};

/** `archivedSpans` counts what was handed to the archive. */
export const sealAtEnd = (archive: KeptArchive, archivedSpans: () => number, collector: Collector): void => {
  let sealed = 0;
  const seal = async (): Promise<void> => {
    sealed = archivedSpans();
    // What does not get there is in the spool, and counted.
    await within(
      collector.exitTimeoutMs,
      archive.seal().catch(() => {}),
    );
  };
  // Emitted again when the loop is empty again: after the collector's flush, and after this.
  process.on('beforeExit', () => {
    if (archivedSpans() !== sealed) void seal();
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    onSignal(
      signal,
      async () => {
        await collector.flush({ timeoutMs: collector.exitTimeoutMs });
        await seal();
      },
      true,
    );
};
