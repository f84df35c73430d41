// The reporters that the environment names. A wrong variable is warned of and left out; what cannot be made at all is an error line and no
// reporter: tracing must never keep a service from starting.
import { createRequire } from 'node:module';
import { attempt } from '../base/calls/attempt.js';
import { OptionError, SpanlineError } from '../base/errors.js';
import { isBucket } from '../base/options/checks.js';
import { missingPackage } from '../base/packages.js';
import type { Reporter } from '../collector/reporter.js';
import { OtlpReporter } from '../exporters/otlp.js';
import type { TimelineArchive } from './archive-timeline.js';
import { requiresOf } from './find-api.js';
import type { Log } from './log.js';
import type { SealedArchive } from './seal-at-end.js';
import type { ExporterName } from './settings.js';

/** What `make` makes of the variables, faults left out one by one, each with a warning. */
export const withoutFaults = <T>(make: (env: NodeJS.ProcessEnv) => T, log: Log): T => {
  const env = { ...process.env };
  for (;;) {
    try {
      return make(env);
    } catch (error) {
      const name = error instanceof OptionError ? /^OTEL_\w+/.exec(error.message)?.[0] : undefined;
      if (name === undefined || env[name] === undefined) throw error;
      log.warn(`${(error as Error).message} The default is used.`);
      delete env[name];
    }
  }
};

const makeOne = async (name: ExporterName, log: Log): Promise<Reporter> => {
  switch (name) {
    case 'console':
      return new (await import('../exporters/console.js')).ConsoleReporter();
    case 'jaeger':
      return new (await import('../exporters/jaeger.js')).JaegerReporter();
    default:
      return withoutFaults((env) => new OtlpReporter({}, env, (message) => log.warn(message)), log);
  }
};

/** One for each name. */
export const makeReporters = async (names: readonly ExporterName[], log: Log): Promise<Reporter[]> => {
  const reporters: Reporter[] = [];
  for (const name of names) {
    try {
      reporters.push(await makeOne(name, log));
    } catch (error) {
      log.error(`no traces go to ${name}: ${(error as Error).message}`);
    }
  }
  return reporters;
};

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
  readonly archive: TimelineArchive & SealedArchive;
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
