// `spanline perf ingest`: writes files of results into the store. A file that is bad changes nothing, and the others still count.

import {
  INGEST_FORMATS,
  type IngestedFile,
  type IngestOptions,
  ingestFiles,
  type RefusedFile,
  TraceDbError,
  validateIngestFile,
} from '@spanline/tracedb';
import { InvalidArgumentError } from 'commander';
import { type Commands, command } from '../command.js';
import { ExitCode, endWith } from '../exit-code.js';
import { isoTime } from '../options.js';
import { columns, note, Progress, printAnswer } from '../output.js';
import { CLEANING } from '../store-session.js';
import { STORE, withPerf } from './perf-options.js';

const MAX_WARNINGS = 3;

/** Warnings of the first files and the number of further ones: thousands of files tend to repeat one warning. */
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

/** Say what became of the files. One that cannot be read is graver than one whose content is wrong. */
const report = (results: readonly (IngestedFile | RefusedFile)[], json: boolean | undefined): void => {
  for (const one of results) {
    if (one.outcome !== 'bad') continue;
    note(one.error.message);
    endWith(one.error.code === 'ERR_SPANLINE_FILE' ? ExitCode.store : ExitCode.usage);
  }
  const answer = results.map((one) => (one.outcome === 'bad' ? { ...one, error: one.error.message } : one));
  const rows = results.map((one) =>
    one.outcome === 'bad' ? [one.file, 'bad', '0', '0'] : [one.file, one.outcome, `${one.entries}`, `${one.points}`],
  );
  printAnswer(json, answer, columns(['file', 'outcome', 'entries', 'points'], rows, 'llrr'));
};

/** The files up to the first good one; no file is good when all are here. */
const refusedBeforeAny = async (files: readonly string[], options: IngestOptions): Promise<RefusedFile[]> => {
  const refused: RefusedFile[] = [];
  for (const file of files) {
    try {
      await validateIngestFile(file, options);
      break;
    } catch (error) {
      if (!(error instanceof TraceDbError)) throw error;
      refused.push({ file, outcome: 'bad', error });
    }
  }
  return refused;
};

export const commands = {
  ingest: command({
    words: '<file...>',
    what: 'write files of results into the store; what it has already is not written again',
    options: {
      ...STORE,
      ...CLEANING,
      format: ['--format <name>', `${INGEST_FORMATS.join(', ')}; detected from the content when left out`],
      commit: ['--commit <hash>', 'the commit measured, for files that do not say it'],
      commitTime: ['--commit-time <time>', 'when that commit was made, for files that do not say it', time],
      measured: [
        '--measured <time>',
        'when it was measured, for files that do not say it (else: when the file was written)',
        time,
      ],
      force: ['--force', 'write files even when the store has them'],
    },
    help: `
Commits are numbered in the order they are made known: ingest histories oldest first. What comes in another order is warned of.

Examples:
  $ spanline perf ingest --store ./perf history.jsonl.gz data.js
  $ spanline bench recording --json > run.json && spanline perf ingest -s ./perf --commit $(git rev-parse HEAD) run.json

Exit codes: 0 all written, 2 a file is bad (the good ones are written), 3 a file cannot be read or the store failed.`,
    run: ({ format, commit, commitTime, measured, force, ...options }, files: string[]) => {
      const reading: IngestOptions = {
        format: format as (typeof INGEST_FORMATS)[number] | undefined,
        commit,
        commitMs: commitTime,
        measuredMs: measured,
      };
      return withPerf(
        options,
        async ({ perf: store, call, isNew }) => {
          if (isNew) note(`made the store ${store.table.location}: tiles of ${store.config.tileSize} commits`);
          const progress = new Progress();
          const results = await ingestFiles(store, files, {
            ...call,
            ...reading,
            force,
            onProgress: ({ file, entries, entriesTotal, points }) =>
              progress.show(`${file}: ${entries} of ${entriesTotal} entries, ${points} points`),
          }).finally(() => progress.clear());
          noteWarnings(results);
          report(results, options.json);
        },
        {
          make: {},
          isWorthMaking: async (rule) => {
            const refused = await refusedBeforeAny(files, { ...reading, rule });
            if (refused.length < files.length) return true;
            report(refused, options.json);
            return false;
          },
          hint: '; the store is whole, and the same command goes on where this one stopped',
        },
      );
    },
  }),
} satisfies Commands;
