// `spanline archive stats`: what an archive has, in a directory or a bucket, in numbers; and `maintain`: merges and deletes in a bucket, once or until a
// signal stops it. What cannot be done is said and tried again; it must not end for a store that is away for a while, and must end at once for one that
// will never do.

import { type OpenMaintainer, openMaintainer } from '@spanline/archive/internal';
import { isBucket, sleep } from 'spanline/internal/base';
import { forCommand, noteDamage, withArchive } from '../archive-session.js';
import { type Commands, command, options, type Values } from '../command.js';
import { ExitCode, endWith, stopRequested, wrongUsage } from '../exit-code.js';
import { READ_ARCHIVE, wholeNumber } from '../options.js';
import { columns, note, Progress, printAnswer } from '../output.js';

const MAINTAIN = options({
  keepHours: ['--keep-hours <hours>', 'delete traces that ended longer ago', wholeNumber(1)],
  keepMib: ['--keep-mib <mebibytes>', 'delete the oldest traces beyond so much', wholeNumber(1)],
  graceMinutes: [
    '--grace-minutes <minutes>',
    'keep objects that are replaced so long; no query may take longer (default: 15)',
    wholeNumber(1),
  ],
  every: ['--every <seconds>', 'look for work again after so long', wholeNumber(1), 30],
  once: ['--once', 'merge and delete all that is due, and end'],
  json: ['--json', 'print what was done as one JSON object'],
});

type MaintainOptions = Values<typeof MAINTAIN>;

const SECOND_MS = 1000;
/** Between two looks at what was done, for the terminal. */
const SHOW_MS = 500;

/** Failures that no later pass mends. */
const FINAL = new Set(
  ['LOCATION', 'MISSING', 'ELSEWHERE', 'FORBIDDEN', 'NO_CREDENTIALS', 'CREDENTIALS', 'NOT_CONDITIONAL', 'VERSION'].map(
    (name) => `ERR_SPANLINE_BUCKET_${name}`,
  ),
);

const summary = (maintainer: OpenMaintainer): string => {
  const { folded, merged, written, retired, deleted, failures } = maintainer.stats();
  const { requests } = maintainer.traffic();
  const failed = failures === 0 ? '' : `, ${failures} failures`;
  return `${folded} uploads taken in, ${merged} segments merged to ${written}, ${retired} too old or too many, ${deleted} objects deleted, ${requests} requests${failed}`;
};

/** One pass, shown on the way. */
const pass = async (maintainer: OpenMaintainer, all: boolean, signal: AbortSignal): Promise<void> => {
  using progress = new Progress();
  const timer = setInterval(() => progress.show(summary(maintainer)), SHOW_MS).unref();
  try {
    await maintainer.pass({ all, signal });
  } finally {
    clearInterval(timer);
  }
};

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code);

/** Passes until the signal fires; what may pass is said once in a row. */
const passes = async (maintainer: OpenMaintainer, everyMs: number, signal: AbortSignal): Promise<void> => {
  let said = '';
  while (!signal.aborted) {
    try {
      await pass(maintainer, false, signal);
      said = '';
    } catch (error) {
      if (signal.aborted) return;
      if (FINAL.has(codeOf(error))) throw error;
      const { message } = error as Error;
      if (message !== said) note(`${message}; tried again in ${everyMs / SECOND_MS} s`);
      said = message;
    }
    await sleep(everyMs, signal).catch(() => {});
  }
};

const run = async (given: MaintainOptions, place: string): Promise<void> => {
  if (!isBucket(place))
    throw wrongUsage(`${place} is a directory, which whoever writes to it maintains: write s3://bucket/prefix`);
  const { keepHours, keepMib, graceMinutes, every, once, json } = given;
  const maintainer = await openMaintainer(
    place,
    {
      maxAgeMs: keepHours === undefined ? undefined : keepHours * 3600 * SECOND_MS,
      maxBytes: keepMib === undefined ? undefined : keepMib * 1024 * 1024,
      graceMs: graceMinutes === undefined ? undefined : graceMinutes * 60 * SECOND_MS,
    },
    once ? forCommand(place).s3 : undefined,
  );
  const stopped = new AbortController();
  void stopRequested().then(() => stopped.abort());
  try {
    if (once) await pass(maintainer, true, stopped.signal);
    else await passes(maintainer, every * SECOND_MS, stopped.signal);
    const { damaged, ...counts } = maintainer.stats();
    printAnswer(json, { archive: maintainer.place, ...counts, ...maintainer.traffic() }, `${summary(maintainer)}\n`);
    noteDamage(damaged);
    if (damaged.length > 0) endWith(ExitCode.store);
  } finally {
    await maintainer.close();
  }
};

export const commands = {
  maintain: command({
    words: '<place>',
    what: 'merge and delete in an archive in a bucket, until a signal stops it',
    options: MAINTAIN,
    help: `
Any number may run at the same time, each may be killed at any moment. One of spanline serve does the same with --maintain. Writers and readers
go on without it, but a search becomes slower with each hour of small uploads.

It needs the rights s3:GetObject, s3:PutObject, s3:ListBucket and s3:DeleteObject, and a store that makes conditional writes, which is
asked first.

Examples:
  $ spanline archive maintain s3://bucket/traces --keep-hours 168
  $ spanline archive maintain s3://bucket/traces --keep-hours 168 --once     every hour, by cron

Exit codes: 0 done or stopped, 2 wrong usage, 3 the store refuses, makes no conditional writes, or a part of the archive cannot be read.`,
    run,
  }),

  stats: command({
    what: 'segments, spans and bytes of an archive, and what of it waits to be maintained',
    options: { ...READ_ARCHIVE, json: ['--json', 'print all counters as one JSON object'] },
    help: `
Examples:
  $ spanline archive stats -a ./traces
  $ spanline archive stats -a s3://bucket/traces --json | jq .bucket.freshUploads

Exit codes: 0 done, 2 wrong usage, 3 the archive or a part of it cannot be read.`,
    run: (options) =>
      withArchive(options, async (opened) => {
        const stats = await opened.stats();
        const { segments, unsortedSegments, spans, bytes, walFiles, bucket } = stats;
        const rows: [string, string][] = Object.entries({
          ...{ segments, 'of them unsorted': unsortedSegments, spans, bytes },
          ...(bucket === undefined
            ? { 'write-ahead files': walFiles }
            : { generation: bucket.generation, 'uploads not taken in': bucket.freshUploads }),
        }).map(([name, value]) => [name, String(value)]);
        printAnswer(options.json, { archive: opened.directory, ...stats }, columns(['what', 'how much'], rows, 'lr'));
      }),
  }),
} satisfies Commands;
