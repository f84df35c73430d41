// `spanline trace import`: traces of files into an archive. What was imported before a failure stays; importing it again changes nothing,
// because equal spans are one.

import type { Archive } from '@spanline/archive';
import { appendAll } from '@spanline/archive/internal';
import { type Command, Option } from 'commander';
import {
  type DecodedTraces,
  describeRefusals,
  type KnownParts,
  newKnownParts,
  READ_FORMATS,
  type ReadFormat,
  readTraceDocument,
  TraceFormatError,
} from 'spanline/internal/formats';
import { withWrittenArchive } from '../archive-session.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { type ArchiveCommandOptions, withArchiveOption } from '../options.js';
import { columns, note, Progress, printAnswer } from '../output.js';
import { type FoundDocument, linesOf, readDocuments } from './read-documents.js';

interface ImportOptions extends ArchiveCommandOptions {
  readonly format?: ReadFormat;
}

/** What came of a file. */
interface Imported {
  readonly file: string;
  documents: number;
  spans: number;
  refused: number;
  readonly reasons: Record<string, number>;
  badField?: string;
  /** Lines that are not a document of traces; the others were read. */
  refusedLines: number;
  /** Why the rest of it was not read. */
  error?: string;
  isUnreadable?: boolean;
}

/** What a person may import at a time is bounded by the memory of their machine, not by what a stranger may send. */
const LIMITS = { maxItems: 100_000_000 } as const;

/** One file on its way into the archive. */
class FileImport {
  readonly done: Imported;
  readonly #open: () => Promise<Archive>;
  readonly #format: ReadFormat | undefined;
  readonly #progress: Progress;
  readonly #known: KnownParts = newKnownParts();

  constructor(open: () => Promise<Archive>, file: string, format: ReadFormat | undefined, progress: Progress) {
    this.#open = open;
    this.#format = format;
    this.#progress = progress;
    this.done = { file, documents: 0, spans: 0, refused: 0, reasons: {}, refusedLines: 0 };
  }

  async #append({ spans, refused, reasons, badField }: DecodedTraces): Promise<void> {
    const { done } = this;
    const { invalid, reason = '' } = await appendAll(await this.#open(), spans);
    done.documents++;
    done.spans += spans.length - invalid;
    done.refused += refused + invalid;
    done.badField ??= badField;
    for (const [why, count] of [...Object.entries(reasons), [reason, invalid] as const])
      if (count > 0) done.reasons[why] = (done.reasons[why] ?? 0) + count;
    this.#progress.show(`${done.file}: ${done.documents} documents, ${done.spans} spans`);
  }

  async #read(bytes: Buffer): Promise<void> {
    await this.#append(readTraceDocument(bytes, this.#format, LIMITS, this.#known));
  }

  /** A line that is not a document is counted, and the first one said at once, for a pipe may stay open. */
  async #take({ bytes, line }: FoundDocument): Promise<void> {
    try {
      await this.#read(bytes);
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      const isFirst = this.done.refusedLines === 0;
      // Where the first line is cut off, as by a rotation of files, those behind it are documents all the same.
      if (line === 0 && !(await this.#takeLines(bytes))) throw error;
      this.done.refusedLines++;
      if (!isFirst) return;
      this.#progress.clear();
      note(`${this.done.file}: line ${line || 1}: ${error.message}`);
    }
  }

  /** Takes the lines of what is not a document as a whole; false when there are no spans in any. */
  async #takeLines(bytes: Buffer): Promise<boolean> {
    let refused = -1;
    for (const line of linesOf(bytes)) {
      try {
        await this.#read(line);
      } catch (error) {
        if (!(error instanceof TraceFormatError)) throw error;
        refused++;
      }
    }
    if (this.done.spans === 0) return false;
    this.done.refusedLines += refused;
    return true;
  }

  async run(signal: AbortSignal): Promise<Imported> {
    const { done } = this;
    try {
      for await (const document of readDocuments(done.file, signal)) {
        signal.throwIfAborted();
        await this.#take(document);
      }
      if (done.documents === 0) done.error = `${done.file}: there is no document of traces in it`;
    } catch (error) {
      const { code = '', path, syscall } = error as NodeJS.ErrnoException;
      done.isUnreadable = syscall !== undefined && (path === done.file || syscall === 'read');
      if (!done.isUnreadable && !(error instanceof TraceFormatError) && !code.startsWith('Z_')) throw error;
      done.error = `${done.file}: ${(error as Error).message}`;
    } finally {
      this.#progress.clear();
    }
    return done;
  }
}

const report = (all: readonly Imported[], json: boolean | undefined): void => {
  for (const one of all) {
    if (one.error !== undefined) note(one.error);
    if (one.refused > 0) note(`${one.file}: spans that cannot be kept: ${describeRefusals(one)}`);
    if (one.refusedLines > 0)
      note(
        `${one.file}: ${one.refusedLines} ${one.refusedLines === 1 ? 'line is not a document' : 'lines are not documents'} of traces`,
      );
  }
  const rows = all.map(({ file, documents, spans, refused, error }) => [
    file,
    error === undefined ? 'imported' : 'bad',
    ...[documents, spans, refused].map(String),
  ]);
  printAnswer(json, all, columns(['file', 'outcome', 'documents', 'spans', 'refused'], rows, 'llrrr'));
  if (all.some(({ isUnreadable }) => isUnreadable)) endWith(ExitCode.store);
  if (all.some(({ error }) => error !== undefined)) endWith(ExitCode.usage);
  if (all.some(({ refused, refusedLines }) => refused + refusedLines > 0)) endWith(ExitCode.findings);
};

const run = (files: readonly string[], options: ImportOptions): Promise<void> => {
  if (files.filter((file) => file === '-').length > 1) throw wrongUsage('standard input can be read once');
  return withWrittenArchive(
    options,
    async (open, signal) => {
      const progress = new Progress();
      const all: Imported[] = [];
      for (const file of files) all.push(await new FileImport(open, file, options.format, progress).run(signal));
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
      new Option('--format <format>', 'otlp, jaeger or zipkin; detected from the content when left out').choices(
        READ_FORMATS,
      ),
    )
    .option('--json', 'print what was imported as JSON')
    .addHelpText(
      'after',
      `
Reads OTLP/JSON, a document a line or one in the whole file, also in answers of Tempo and of Jaeger's API version 3; the JSON of Jaeger's UI
and older API; spans of Zipkin's API version 2; compressed with gzip or not. A span or a line that cannot be read is counted, and costs no other.
A span that is in the archive already is not kept twice.

Examples:
  $ spanline trace import -a ./traces traces.jsonl.gz
  $ curl -s 'http://localhost:16686/api/traces?service=shop&limit=1000' | spanline trace import -a ./traces -

Exit codes: 0 all imported, 1 some spans or lines cannot be kept, 2 wrong usage or there are no traces in a file, 3 the archive or a file failed.`,
    )
    .action(run);
};
