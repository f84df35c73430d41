// `spanline snapshot export`: a snapshot as a file that other tools read, or in an archive.

import { Archive } from '@spanline/archive';
import { type KeptSnapshot, keepSnapshot } from '@spanline/archive/internal';
import { type Snapshot, type SnapshotFormat, writeSnapshot } from 'spanline/flight-recorder';
import { type Commands, command, options, REQUIRED, type Values } from '../command.js';
import { ExitCode, endWith, interruptible } from '../exit-code.js';
import { note, Progress, printAnswer } from '../output.js';
import { snapshotIn } from './snapshot-files.js';

const FORMATS = ['otlp', 'jaeger', 'perfetto', 'archive'] as const;
type ExportFormat = (typeof FORMATS)[number];

const EXPORT = options({
  format: ['--format <format>', 'format to write', FORMATS, REQUIRED],
  output: [
    '-o, --output <file>',
    'where to; with archive the directory, which is made when it is not there',
    undefined,
    REQUIRED,
  ],
  json: ['--json', 'print what was written as JSON'],
});

type ExportOptions = Values<typeof EXPORT>;

/** As `spanline trace export` names them. */
const FORMAT_OF: Readonly<Record<Exclude<ExportFormat, 'archive'>, SnapshotFormat>> = {
  otlp: 'otlp-lines',
  jaeger: 'jaeger',
  perfetto: 'perfetto',
};

const toArchive = async (snapshot: Snapshot, directory: string, signal: AbortSignal): Promise<KeptSnapshot> => {
  using progress = new Progress();
  const archive = await Archive.open(directory);
  try {
    return await keepSnapshot(archive, snapshot, {
      signal,
      onProgress: (traces, spans) => progress.show(`${traces} traces, ${spans} spans`),
    });
  } finally {
    await archive.close();
  }
};

const run = ({ format, output, json }: ExportOptions, file: string): Promise<void> =>
  interruptible(async (signal) => {
    const snapshot = await snapshotIn(file);
    if (format === 'archive') {
      const archived = await toArchive(snapshot, output, signal);
      const { traceCount, spanCount, refused, reason } = archived;
      if (json) printAnswer(json, { output, format, ...archived }, '');
      else note(`${traceCount} traces, ${spanCount} spans in ${output}; see: spanline trace ls -a ${output}`);
      if (refused === 0) return;
      note(`spans that cannot be kept: ${refused} ${reason}`);
      endWith(ExitCode.findings);
      return;
    }
    const written = await writeSnapshot(snapshot, output, { format: FORMAT_OF[format], signal });
    if (json) printAnswer(json, { output, format, ...written }, '');
    else note(`${written.traceCount} traces, ${written.spanCount} spans in ${output}`);
  });

export const commands = {
  export: command({
    words: '<file>',
    what: 'write a snapshot in a format of other tools, or into an archive',
    options: EXPORT,
    help: `
Formats:
  otlp       OTLP/JSON, a trace a line, as spanline trace import and other OpenTelemetry tools read it
  jaeger     one document, for the upload of Jaeger's UI
  perfetto   for ui.perfetto.dev: with the process's own timeline, and open spans as slices that do not end
  archive    for spanline trace, spanline stalls, spanline ui and spanline serve, with the process's timeline

A span that was open has the property spanline.open; the first span of a trace that was recorded here only has spanline.sampled: false.

Examples:
  $ spanline snapshot export last.flight --format perfetto -o last.perfetto-trace
  $ spanline snapshot export last.flight --format archive -o ./traces

Exit codes: 0 written, 1 an archive cannot keep some spans, 2 wrong usage, 3 the file is not a snapshot, or a file or the archive failed.`,
    run,
  }),
} satisfies Commands;
