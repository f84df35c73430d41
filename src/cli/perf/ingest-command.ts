// `spanline perf ingest`: writes files of results into the store. A file that is bad changes nothing, and the others still count.
import { type Command, InvalidArgumentError } from 'commander';
import { INGEST_FORMATS, type IngestedFile, ingestFiles, type RefusedFile } from '../../tracedb/index.js';
import { columns } from '../columns.js';
import { ExitCode } from '../exit-code.js';
import { isoTime, withAllowedChars } from '../options.js';
import { Progress } from '../progress.js';
import { note, printJson, type StoreOptions, withPerf, withStore } from './perf-options.js';

interface IngestCommandOptions extends StoreOptions {
  readonly format?: string;
  readonly commit?: string;
  readonly commitTime?: number;
  readonly measured?: number;
  readonly force?: boolean;
}

const MAX_WARNINGS = 3;

/** Warnings of the first files, and how many there are more: of thousands of files, all say the same. */
const noteWarnings = (results: readonly (IngestedFile | RefusedFile)[]): void => {
  const warnings = results.flatMap((one) => (one.outcome === 'bad' ? [] : (one.warnings ?? [])));
  for (const warning of warnings.slice(0, MAX_WARNINGS)) note(`warning: ${warning}`);
  const more = warnings.length - MAX_WARNINGS;
  if (more > 0) note(`and ${more} more warnings; --json has them all`);
};

/** Unix milliseconds of a time on the command line. */
const time = (text: string): number => {
  const ms = isoTime(text);
  if (ms >= 0) return ms;
  throw new InvalidArgumentError('write a time such as 2026-01-31T12:00:00Z, or a day.');
};

/** Register the command. */
export const registerIngest = (perf: Command): void => {
  withAllowedChars(withStore(perf.command('ingest <file...>')))
    .description('write files of results into the store; what it has already is not written again')
    .option('--format <name>', `${INGEST_FORMATS.join(', ')}; told by the content when left out`)
    .option('--commit <hash>', 'the commit measured, for files that do not say it')
    .option('--commit-time <time>', 'when that commit was made, for files that do not say it', time)
    .option(
      '--measured <time>',
      'when it was measured, for files that do not say it (else: when the file was written)',
      time,
    )
    .option('--force', 'write files even when the store has them')
    .addHelpText(
      'after',
      `
Commits are numbered in the order they are made known: ingest histories oldest first. What comes in another order is warned of.

Examples:
  $ spanline perf ingest --store ./perf history.jsonl.gz data.js
  $ spanline bench recording --json > run.json && spanline perf ingest -s ./perf --commit $(git rev-parse HEAD) run.json

Exit codes: 0 all written, 2 a file is bad (the good ones are written), 3 the store failed.`,
    )
    .action((files: string[], { format, commit, commitTime, measured, force, ...options }: IngestCommandOptions) =>
      withPerf(
        options,
        async ({ perf: store, call, isNew }) => {
          if (isNew) note(`made the store ${store.table.location}: tiles of ${store.config.tileSize} commits`);
          const progress = new Progress();
          const results = await ingestFiles(store, files, {
            ...call,
            format: format as (typeof INGEST_FORMATS)[number] | undefined,
            commit,
            commitMs: commitTime,
            measuredMs: measured,
            force,
            onProgress: ({ file, entries, entriesTotal, points }) =>
              progress.show(`${file}: ${entries} of ${entriesTotal} entries, ${points} points`),
          }).finally(() => progress.clear());
          const done = results.map((one) => (one.outcome === 'bad' ? { ...one, error: one.error.message } : one));
          noteWarnings(results);
          for (const one of done) if (one.outcome === 'bad') note(one.error);
          if (done.some(({ outcome }) => outcome === 'bad')) process.exitCode = ExitCode.usage;
          if (options.json) printJson(done);
          else {
            const rows = done.map((one) =>
              one.outcome === 'bad'
                ? [one.file, 'bad', '0', '0']
                : [one.file, one.outcome, `${one.entries}`, `${one.points}`],
            );
            process.stdout.write(
              columns(['file', 'outcome', 'entries', 'points'], rows, ['left', 'left', 'right', 'right']),
            );
          }
        },
        { make: {}, hint: '; the store is whole, and the same command goes on where this one stopped' },
      ),
    );
};
