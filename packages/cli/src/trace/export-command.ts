// `spanline trace export`: traces as a file that other tools, and `spanline trace import`, read. A file is there whole or not at all.

import type { Archive } from '@spanline/archive';
import { loadTraces } from '@spanline/archive/internal';
import { runAsync, WholeFile } from 'spanline/internal/base';
import {
  type DocumentTrace,
  documentPieces,
  JAEGER_DOCUMENT,
  OTLP_LINES,
  type TraceDocument,
} from 'spanline/internal/formats';
import type { ArchivedSpan } from 'spanline/internal/record';
import { withArchive } from '../archive-session.js';
import { type Commands, command, options, type Values } from '../command.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { READ_ARCHIVE } from '../options.js';
import { note, Progress, printAnswer, writeOut } from '../output.js';
import { isSearch, SEARCH, searchOf } from './search-options.js';
import { eachSummary, findTraceId } from './summaries.js';

// The files traces are exported to: OTLP/JSON, a document a line, which other OpenTelemetry tools read too, and the JSON document of Jaeger's UI.

const TRACE_FORMATS = ['otlp', 'jaeger'] as const;
type TraceFormat = (typeof TRACE_FORMATS)[number];

/** How a file is written, by format. */
const WRITINGS: Readonly<Record<TraceFormat, TraceDocument>> = { otlp: OTLP_LINES, jaeger: JAEGER_DOCUMENT };

const EXPORT = options({
  ...READ_ARCHIVE,
  ...SEARCH,
  format: [
    '--format <format>',
    'otlp: OTLP/JSON, a trace a line; jaeger: one document, for the upload of its UI',
    TRACE_FORMATS,
    'otlp',
  ],
  output: ['-o, --output <file>', 'where to; - is standard output', undefined, '-'],
  json: ['--json', 'print what was written as JSON; on standard error when the traces go to standard output'],
});

type ExportOptions = Values<typeof EXPORT>;

type Trace = readonly [traceId: string, spans: readonly ArchivedSpan[]];

interface Counts {
  traces: number;
  spans: number;
}

/** The traces that are wanted. */
const wantedTraces = async function* (
  archive: Archive,
  ids: readonly string[],
  given: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<Trace> {
  if (ids.length > 0) {
    const wanted = new Set<string>();
    for (const id of ids) wanted.add(await findTraceId(archive, id, signal, given.from));
    const summaries = [...wanted].map((traceId) => ({ traceId, bytes: 0 }));
    yield* loadTraces(archive, summaries, { signal });
  } else if (given.format === 'otlp' && !isSearch(given)) {
    // In the order of the files, which is the fastest.
    for await (const spans of archive.scan({ signal })) yield [spans[0].traceId, spans];
  } else {
    for await (const page of eachSummary(archive, searchOf(given), signal))
      yield* loadTraces(archive, page, { signal });
  }
};

/** The same, counted and shown on the way. */
const counted = async function* (
  traces: AsyncIterable<Trace>,
  counts: Counts,
  progress: Progress,
): AsyncGenerator<DocumentTrace> {
  for await (const [traceId, spans] of traces) {
    counts.traces++;
    counts.spans += spans.length;
    yield { traceId, spans };
    progress.show(`${counts.traces} traces, ${counts.spans} spans`);
  }
};

/** To a file, else to standard output. */
const writeTraces = async (
  file: WholeFile | undefined,
  traces: AsyncIterable<Trace>,
  format: TraceFormat,
): Promise<Counts> => {
  using progress = new Progress();
  const counts: Counts = { traces: 0, spans: 0 };
  try {
    // A stream may keep what it is given: it gets a text of its own.
    for await (const piece of documentPieces(WRITINGS[format], counted(traces, counts, progress)))
      await (file === undefined ? writeOut(piece.toString()) : runAsync(file.write(piece)));
    if (file !== undefined) await runAsync(file.finish());
  } catch (error) {
    if (file !== undefined) await runAsync(file.abort());
    throw error;
  }
  return counts;
};

const run = (given: ExportOptions, ids: readonly string[]): Promise<void> => {
  if (ids.length > 0 && isSearch({ ...given, from: undefined })) throw wrongUsage('give ids or conditions, not both');
  const { format, output: file, json } = given;
  return withArchive(given, async (archive, signal) => {
    const output = file === '-' ? undefined : await runAsync(WholeFile.open(file, { takesSpecial: true }));
    const counts = await writeTraces(output, wantedTraces(archive, ids, given, signal), format);
    const answer = { file, format, ...counts };
    if (json && file !== '-') printAnswer(json, answer, '');
    else if (json) process.stderr.write(`${JSON.stringify(answer)}\n`);
    else note(`${counts.traces} traces, ${counts.spans} spans${file === '-' ? '' : ` in ${file}`}`);
    if (counts.traces === 0) endWith(ExitCode.findings);
  });
};

export const commands = {
  export: command({
    words: '[id...]',
    what: 'write traces to a file: all, those with these ids, or those that meet all conditions',
    options: EXPORT,
    help: `
OTLP keeps everything. Jaeger's format keeps lists and maps in properties as text.

Examples:
  $ spanline trace export -a ./traces -o traces.jsonl
  $ spanline trace export -a ./traces --service shop --from 1h --format jaeger -o shop.json
  $ spanline trace export -a ./traces 4bf9 | spanline trace import -a ./other -
  $ spanline trace export -a ./traces | gzip > traces.jsonl.gz

Exit codes: 0 written, 1 there are no such traces, 2 wrong usage, 3 the archive or the file failed.`,
    run: run,
  }),
} satisfies Commands;
