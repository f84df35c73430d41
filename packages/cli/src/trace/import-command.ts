// `spanline trace import`: traces of files into an archive, from JSON documents of a line each, or a single one over many lines, compressed with gzip
// or not; one document is held at a time. What was imported before a failure stays; importing it again changes nothing, because equal spans are one.

import type { Archive } from '@spanline/archive';
import {
  appendAll,
  describeRefusals,
  type KnownParts,
  newKnownParts,
  READ_FORMATS,
  type ReadFormat,
  readTraceDocument,
  TraceFormatError,
  tooLarge,
} from '@spanline/archive/internal';
import { withWrittenArchive } from '../archive-session.js';
import { type Commands, command, options, type Values } from '../command.js';
import { ExitCode, endWith, wrongUsage } from '../exit-code.js';
import { bytesOf } from '../files.js';
import { ARCHIVE } from '../options.js';
import { columns, note, Progress, printAnswer } from '../output.js';

/** Bytes of one document; a longer one could not become a string. */
const MAX_DOCUMENT_BYTES = 400 * 1024 * 1024;

const LINE_BREAK = 0x0a;
const END_OF_LINE = Buffer.from('\n');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_MAP = 0x7b;
const CLOSE_MAP = 0x7d;

/** A document, and where it stands. */
export interface FoundDocument {
  readonly bytes: Buffer;
  /** From 1; 0 when the whole file is one document. */
  readonly line: number;
}

/** Whether all that was opened in the line is closed in it. */
const isWhole = (line: Buffer): boolean => {
  let depth = 0;
  for (let at = 0; at < line.length; at++) {
    const byte = line[at];
    if (byte === QUOTE) {
      for (at++; at < line.length && line[at] !== QUOTE; at++) if (line[at] === BACKSLASH) at++;
    } else if (byte === OPEN_MAP || byte === OPEN_LIST) depth++;
    else if (byte === CLOSE_MAP || byte === CLOSE_LIST) depth--;
  }
  return depth === 0;
};

const isBlank = (line: Buffer): boolean => line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);

/** The lines of bytes that were taken for one document. */
export const linesOf = function* (bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; ) {
    const at = bytes.indexOf(LINE_BREAK, from);
    const line = bytes.subarray(from, at < 0 ? bytes.length : at);
    if (!isBlank(line)) yield line;
    from += line.length + 1;
  }
};

/** What is not handed out yet. */
class Pending {
  #chunks: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#length += chunk.length;
    if (this.#length > MAX_DOCUMENT_BYTES)
      throw tooLarge(`a document of more than ${MAX_DOCUMENT_BYTES} bytes: write traces as OTLP, one a line`);
    this.#chunks.push(chunk);
  }

  take(): Buffer {
    const all = this.#chunks.length === 1 ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#length = 0;
    return all;
  }
}

/** The documents of `file`; `-` is standard input. */
export const readDocuments = async function* (file: string, signal: AbortSignal): AsyncGenerator<FoundDocument> {
  const pending = new Pending();
  let line = 0;
  let isOneDocument = false;
  let isFirst = true;
  for await (const chunk of bytesOf(file, signal)) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_BREAK); at >= 0 && !isOneDocument; at = chunk.indexOf(LINE_BREAK, from)) {
      pending.add(chunk.subarray(from, at));
      from = at + 1;
      const bytes = pending.take();
      line++;
      if (isBlank(bytes)) continue;
      // The first one tells: an open line goes on in the next.
      if (isFirst && !isWhole(bytes)) {
        isOneDocument = true;
        pending.add(bytes);
        pending.add(END_OF_LINE);
      } else yield { bytes, line };
      isFirst = false;
    }
    pending.add(chunk.subarray(from));
  }
  const bytes = pending.take();
  if (!isBlank(bytes)) yield { bytes, line: isOneDocument || line === 0 ? 0 : line + 1 };
};

const IMPORT = options({
  ...ARCHIVE,
  format: ['--format <format>', 'otlp, jaeger or zipkin; detected from the content when left out', READ_FORMATS],
  json: ['--json', 'print what was imported as JSON'],
});

type ImportOptions = Values<typeof IMPORT>;

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

  async #read(bytes: Buffer): Promise<void> {
    const { done } = this;
    const { spans, refused, reasons, badField } = readTraceDocument(bytes, this.#format, LIMITS, this.#known);
    const { invalid, reason = '' } = await appendAll(await this.#open(), spans);
    done.documents++;
    done.spans += spans.length - invalid;
    done.refused += refused + invalid;
    done.badField ??= badField;
    for (const [why, count] of [...Object.entries(reasons), [reason, invalid] as const])
      if (count > 0) done.reasons[why] = (done.reasons[why] ?? 0) + count;
    this.#progress.show(`${done.file}: ${done.documents} documents, ${done.spans} spans`);
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

const run = (given: ImportOptions, files: readonly string[]): Promise<void> => {
  if (files.filter((file) => file === '-').length > 1) throw wrongUsage('standard input can be read once');
  return withWrittenArchive(
    given,
    async (open, signal) => {
      const progress = new Progress();
      const all: Imported[] = [];
      for (const file of files) all.push(await new FileImport(open, file, given.format, progress).run(signal));
      if (all.some(({ spans }) => spans > 0)) {
        const archive = await open();
        await archive.seal();
        // Every reader would sort it in memory.
        await archive.tidy();
      }
      report(all, given.json);
    },
    '; what was read before is kept, and importing it again changes nothing',
  );
};

export const commands = {
  import: command({
    words: '<file...>',
    what: 'bring traces of files into the archive, which is made when it is not there; - is standard input',
    options: IMPORT,
    help: `
Reads OTLP/JSON, a document a line or one in the whole file, also in answers of Tempo and of Jaeger's API version 3; the JSON of Jaeger's UI
and older API; spans of Zipkin's API version 2; compressed with gzip or not. A span or a line that cannot be read is counted, and costs no other.
A span that is in the archive already is not kept twice.

Examples:
  $ spanline trace import -a ./traces traces.jsonl.gz
  $ curl -s 'http://localhost:16686/api/traces?service=shop&limit=1000' | spanline trace import -a ./traces -

Exit codes: 0 all imported, 1 some spans or lines cannot be kept, 2 wrong usage or there are no traces in a file, 3 the archive or a file failed.`,
    run: run,
  }),
} satisfies Commands;
