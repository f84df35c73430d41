// `spanline trace import`: traces of files into an archive. What was imported before a failure stays; importing it again changes nothing,
// because equal spans are one.
import { type Command, Option } from 'commander';
import { appendAll } from '../../archive/append-all.js';
import type { Archive } from '../../archive/archive.js';
import { describeRefusals } from '../../formats/decode-context.js';
import { newKnownParts } from '../../formats/otlp/shared-parts.js';
import { TraceFormatError } from '../../formats/trace-format-error.js';
import { type ArchiveCommandOptions, withArchiveOption } from '../archive-options.js';
import { withWrittenArchive } from '../archive-session.js';
import { columns } from '../columns.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { note, printAnswer } from '../output.js';
import { Progress } from '../progress.js';
import { readDocuments } from './read-documents.js';
import { readDocument, TRACE_FORMATS, type TraceFormat } from './trace-formats.js';

interface ImportOptions extends ArchiveCommandOptions {
  readonly format?: TraceFormat;
}

/** What came of a file. */
interface Imported {
  readonly file: string;
  documents: number;
  spans: number;
  refused: number;
  readonly reasons: Record<string, number>;
  /** Why the rest of it was not read. */
  error?: string;
  isUnreadable?: boolean;
}

const importFile = async (
  open: () => Promise<Archive>,
  file: string,
  format: TraceFormat | undefined,
  progress: Progress,
  signal: AbortSignal,
): Promise<Imported> => {
  const done: Imported = { file, documents: 0, spans: 0, refused: 0, reasons: {} };
  const known = newKnownParts();
  try {
    for await (const { bytes, line } of readDocuments(file, signal)) {
      signal.throwIfAborted();
      try {
        const { spans, refused, reasons } = readDocument(bytes, format, known);
        const { invalid, reason = '' } = await appendAll(await open(), spans);
        done.documents++;
        done.spans += spans.length - invalid;
        done.refused += refused + invalid;
        for (const [why, count] of [...Object.entries(reasons), [reason, invalid] as const])
          if (count > 0) done.reasons[why] = (done.reasons[why] ?? 0) + count;
      } catch (error) {
        if (!(error instanceof TraceFormatError) || line === 0) throw error;
        throw new TraceFormatError(error.code, `line ${line}: ${error.message}`, { cause: error });
      }
      progress.show(`${file}: ${done.documents} documents, ${done.spans} spans`);
    }
  } catch (error) {
    const { code = '', path, syscall } = error as NodeJS.ErrnoException;
    done.isUnreadable = syscall !== undefined && (path === file || syscall === 'read');
    if (!done.isUnreadable && !(error instanceof TraceFormatError) && !code.startsWith('Z_')) throw error;
    done.error = `${file}: ${(error as Error).message}`;
  } finally {
    progress.clear();
  }
  return done;
};

const report = (all: readonly Imported[], json: boolean | undefined): void => {
  for (const one of all) {
    if (one.error !== undefined) note(one.error);
    if (one.refused > 0) note(`${one.file}: spans that cannot be kept: ${describeRefusals(one)}`);
  }
  const rows = all.map(({ file, documents, spans, refused, error }) => [
    file,
    error === undefined ? 'imported' : 'bad',
    ...[documents, spans, refused].map(String),
  ]);
  printAnswer(json, all, columns(['file', 'outcome', 'documents', 'spans', 'refused'], rows, 'llrrr'));
  if (all.some(({ isUnreadable }) => isUnreadable)) endWith(ExitCode.store);
  if (all.some(({ error }) => error !== undefined)) endWith(ExitCode.usage);
  if (all.some(({ refused }) => refused > 0)) endWith(ExitCode.findings);
};

const run = (files: readonly string[], options: ImportOptions): Promise<void> => {
  if (files.filter((file) => file === '-').length > 1) throw wrongUsage('standard input can be read once');
  return withWrittenArchive(
    options,
    async (open, signal) => {
      const progress = new Progress();
      const all: Imported[] = [];
      for (const file of files) all.push(await importFile(open, file, options.format, progress, signal));
      if (all.some(({ spans }) => spans > 0)) await (await open()).seal();
      report(all, options.json);
    },
    '; what was read before is in the archive, and importing it again changes nothing',
  );
};

/** Register the command. */
export const register = (trace: Command): void => {
  withArchiveOption(trace.command('import <file...>'))
    .description('bring traces of files into the archive, which is made when it is not there; - is standard input')
    .addOption(
      new Option('--format <format>', 'otlp or jaeger; told by the content when left out').choices(TRACE_FORMATS),
    )
    .option('--json', 'print what was imported as JSON')
    .addHelpText(
      'after',
      `
Reads OTLP/JSON, a document a line or one in the whole file, and the JSON of Jaeger's UI and query API; compressed with gzip or not.
A span that is in the archive already is not kept twice.

Examples:
  $ spanline trace import -a ./traces traces.jsonl.gz
  $ curl -s 'http://localhost:16686/api/traces?service=shop&limit=1000' | spanline trace import -a ./traces -

Exit codes: 0 all imported, 1 some spans cannot be kept, 2 wrong usage or a file is bad, 3 the archive or a file failed.`,
    )
    .action(run);
};
