// `spanline archive stats`: what an archive has, in a directory or a bucket, in numbers. Changes nothing.

import { withArchive } from '../archive-session.js';
import { type Commands, command } from '../command.js';
import { READ_ARCHIVE } from '../options.js';
import { columns, printAnswer } from '../output.js';

export const commands = {
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
