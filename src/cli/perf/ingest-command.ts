// `spanline perf ingest`: writes files of results into the store. A file that is bad changes nothing, and the others still count.
import type { Command } from 'commander';
import { INGEST_FORMATS, type IngestedFile, ingestFile, TraceDbError } from '../../tracedb/index.js';
import { columns } from '../columns.js';
import { ExitCode } from '../exit-code.js';
import { withAllowedChars } from '../options.js';
import { Progress } from '../progress.js';
import { note, printJson, type StoreOptions, withPerf, withStore } from './perf-options.js';

interface IngestCommandOptions extends StoreOptions {
  readonly format?: string;
  readonly commit?: string;
  readonly force?: boolean;
}

interface BadFile {
  readonly file: string;
  readonly outcome: 'bad';
  readonly error: string;
}

/** Register the command. */
export const registerIngest = (perf: Command): void => {
  withAllowedChars(withStore(perf.command('ingest <file...>')))
    .description('write files of results into the store; what it has already is not written again')
    .option('--format <name>', `${INGEST_FORMATS.join(', ')}; told by the content when left out`)
    .option('--commit <hash>', 'the commit measured, for files that do not say it')
    .option('--force', 'write files even when the store has them')
    .addHelpText(
      'after',
      `
Commits are numbered in the order they are made known: ingest histories oldest first.

Examples:
  $ spanline perf ingest --store ./perf history.jsonl.gz data.js
  $ spanline bench recording --json > run.json && spanline perf ingest -s ./perf --commit $(git rev-parse HEAD) run.json

Exit codes: 0 all written, 2 a file is bad (the good ones are written), 3 the store failed.`,
    )
    .action((files: string[], { format, commit, force, ...options }: IngestCommandOptions) =>
      withPerf(
        options,
        async ({ perf: store, call, isNew }) => {
          if (isNew) note(`made the store ${store.table.location}: tiles of ${store.config.tileSize} commits`);
          const progress = new Progress();
          const done: (IngestedFile | BadFile)[] = [];
          for (const file of files) {
            try {
              done.push(
                await ingestFile(store, file, {
                  ...call,
                  format: format as (typeof INGEST_FORMATS)[number] | undefined,
                  commit,
                  force,
                  onProgress: ({ entries, entriesTotal, points }) =>
                    progress.show(`${file}: ${entries} of ${entriesTotal} entries, ${points} points`),
                }),
              );
            } catch (error) {
              if (!(error instanceof TraceDbError) || error.code !== 'ERR_SPANLINE_INVALID_INPUT') throw error;
              done.push({ file, outcome: 'bad', error: error.message });
            } finally {
              progress.clear();
            }
          }
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
