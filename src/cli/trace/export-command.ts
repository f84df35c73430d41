// `spanline trace export`: traces as a file that other tools, and `spanline trace import`, read. A file is there whole or not at all.
import { type Command, Option } from 'commander';
import type { Archive } from '../../archive/archive.js';
import { loadTraces } from '../../archive/server/load-traces.js';
import { runAsync } from '../../base/files/fs-steps.js';
import { WholeFile } from '../../base/files/whole-file.js';
import type { ArchivedSpan } from '../../trace/archived-span.js';
import { type ArchiveCommandOptions, withArchive, withArchiveOption } from '../archive-session.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { note, printAnswer, writeOut } from '../output.js';
import { Progress } from '../progress.js';
import { findTraceId } from './find-trace.js';
import { isSearch, type SearchOptions, searchOf, withSearchOptions } from './search-options.js';
import { eachSummary } from './summaries.js';
import { TRACE_FORMATS, type TraceFormat, WRITINGS } from './trace-formats.js';

interface ExportOptions extends ArchiveCommandOptions, SearchOptions {
  readonly format: TraceFormat;
  readonly output: string;
}

type Trace = readonly [traceId: string, spans: readonly ArchivedSpan[]];

/** The traces that are wanted. */
const wantedTraces = async function* (
  archive: Archive,
  ids: readonly string[],
  options: ExportOptions,
  signal: AbortSignal,
): AsyncGenerator<Trace> {
  if (ids.length > 0) {
    const wanted = new Set<string>();
    for (const id of ids) wanted.add(await findTraceId(archive, id, signal));
    const summaries = [...wanted].map((traceId) => ({ traceId, bytes: 0 }));
    yield* loadTraces(archive, summaries, { signal });
  } else if (options.format === 'otlp' && !isSearch(options)) {
    // In the order of the files, which is the fastest.
    for await (const spans of archive.scan({ signal })) yield [spans[0].traceId, spans];
  } else {
    for await (const page of eachSummary(archive, searchOf(options), signal))
      yield* loadTraces(archive, page, { signal });
  }
};

/** Where the text goes. */
interface Output {
  write(text: string): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

const toStdout: Output = { write: writeOut, async finish() {}, async abandon() {} };

const toFile = async (file: string): Promise<Output> => {
  const whole = await runAsync(WholeFile.open(file, { takesSpecial: true }));
  return {
    write: (text) => runAsync(whole.write(Buffer.from(text))),
    finish: () => runAsync(whole.finish()),
    abandon: () => runAsync(whole.abort()),
  };
};

const PIECE_LENGTH = 64 * 1024;

const writeTraces = async (output: Output, traces: AsyncIterable<Trace>, format: TraceFormat) => {
  const { head, between, tail, trace } = WRITINGS[format];
  const progress = new Progress();
  const counts = { traces: 0, spans: 0 };
  let pending = head;
  try {
    for await (const [traceId, spans] of traces) {
      if (counts.traces++ > 0) pending += between;
      counts.spans += spans.length;
      for (const piece of trace(traceId, spans)) {
        pending += piece;
        if (pending.length < PIECE_LENGTH) continue;
        await output.write(pending);
        pending = '';
      }
      progress.show(`${counts.traces} traces, ${counts.spans} spans`);
    }
    await output.write(pending + tail);
    await output.finish();
  } catch (error) {
    await output.abandon();
    throw error;
  } finally {
    progress.clear();
  }
  return counts;
};

const run = (ids: readonly string[], options: ExportOptions): Promise<void> => {
  if (ids.length > 0 && isSearch(options)) throw wrongUsage('give ids or conditions, not both');
  const { format, output: file, json } = options;
  return withArchive(options, async (archive, signal) => {
    const output = file === '-' ? toStdout : await toFile(file);
    const counts = await writeTraces(output, wantedTraces(archive, ids, options, signal), format);
    const answer = { file, format, ...counts };
    if (json && file !== '-') printAnswer(json, answer, '');
    else if (json) process.stderr.write(`${JSON.stringify(answer)}\n`);
    else note(`${counts.traces} traces, ${counts.spans} spans${file === '-' ? '' : ` in ${file}`}`);
    if (counts.traces === 0) endWith(ExitCode.findings);
  });
};

/** Register the command. */
export const registerExport = (trace: Command): void => {
  withSearchOptions(withArchiveOption(trace.command('export [id...]')))
    .description('write traces to a file: all, those with these ids, or those that meet all conditions')
    .addOption(
      new Option('--format <format>', 'otlp: OTLP/JSON, a trace a line; jaeger: one document, for the upload of its UI')
        .choices(TRACE_FORMATS)
        .default('otlp'),
    )
    .option('-o, --output <file>', 'where to; - is standard output', '-')
    .option('--json', 'print what was written as JSON; on standard error when the traces go to standard output')
    .addHelpText(
      'after',
      `
OTLP keeps everything. Jaeger's format keeps lists and maps in properties as text.

Examples:
  $ spanline trace export -a ./traces -o traces.jsonl
  $ spanline trace export -a ./traces --service shop --from 1h --format jaeger -o shop.json
  $ spanline trace export -a ./traces 4bf9 | spanline trace import -a ./other -
  $ spanline trace export -a ./traces | gzip > traces.jsonl.gz

Exit codes: 0 written, 1 there are no such traces, 2 wrong usage, 3 the archive or the file failed.`,
    )
    .action(run);
};
