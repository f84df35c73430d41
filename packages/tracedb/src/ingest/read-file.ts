// Reads an ingest file, of any format, compressed or not. It must never hand out a commit before all of the file is known to be
// good: a bad file changes nothing.
import type { CleaningRule } from '../params/param-text.js';
import { invalidInput } from '../tracedb-error.js';
import { benchmarkScriptJson, jsonLineParser } from './benchmark-run.js';
import {
  DOCUMENT_PARSERS,
  type DocumentFormat,
  formatOfDocument,
  formatOfFirstLine,
  HISTORY_FORMATS,
  type IngestFormat,
  ingestFormat,
  unknownFormat,
} from './formats.js';
import { checkedTimeMs, type IngestCommit, type IngestContext, SeriesCleaner } from './ingest-commit.js';
import {
  INGEST_LIMITS,
  type IngestFile,
  type IngestLimits,
  LARGEST_DOCUMENT_BYTES,
  openRegularFile,
} from './ingest-file.js';
import { badFile } from './shape.js';
import { parseJson, textLines, utf8Text, wholeBytes } from './text.js';

/** How an ingest file is read. */
export interface IngestOptions extends Partial<IngestLimits> {
  /** Its format; told by its content when absent. */
  readonly format?: IngestFormat;
  /** What errors and sources call it; default: the path as given. */
  readonly name?: string;
  /** The commit it measures, for formats that do not say it. */
  readonly commit?: string;
  /** When that commit was made, in milliseconds since 1970, for formats that do not say it. */
  readonly commitMs?: number;
  /**
   * When it was measured, in milliseconds since 1970, for formats that do not say it. Default: when the file was written, which
   * copying it changes; `IngestSummary.isFileTime` says when that was taken.
   */
  readonly measuredMs?: number;
  /** How params are cleaned; default `DEFAULT_RULE`. */
  readonly rule?: CleaningRule;
  readonly signal?: AbortSignal;
}

/** What an ingest file holds. */
export interface IngestSummary {
  readonly format: IngestFormat;
  /** Entries: a commit that was measured twice counts twice. */
  readonly commits: number;
  readonly points: number;
  /** Present where the file does not say when it was measured, and nobody else did: the time at which it was written was taken. */
  readonly isFileTime?: true;
}

const limitsOf = (options: IngestOptions): IngestLimits => {
  const limit = (name: keyof IngestLimits): number => {
    const value = options[name] ?? INGEST_LIMITS[name];
    if (value > 0) return value;
    throw invalidInput(`${name} must be a number above 0, not ${value}`);
  };
  return {
    maxDocumentBytes: Math.min(limit('maxDocumentBytes'), LARGEST_DOCUMENT_BYTES),
    maxLineBytes: Math.min(limit('maxLineBytes'), LARGEST_DOCUMENT_BYTES),
    maxBytes: limit('maxBytes'),
    maxExpansion: limit('maxExpansion'),
  };
};

const contextOf = (
  file: IngestFile,
  { rule, commit, commitMs, measuredMs }: IngestOptions,
  onFileTime: () => void,
): IngestContext => {
  const givenMs = measuredMs === undefined ? undefined : checkedTimeMs(file.name, '', measuredMs);
  return {
    name: file.name,
    cleaner: new SeriesCleaner(rule),
    commit,
    ...(commitMs !== undefined && { commitMs: checkedTimeMs(file.name, '', commitMs) }),
    measuredMs() {
      if (givenMs !== undefined) return givenMs;
      onFileTime();
      return checkedTimeMs(file.name, '', file.modifiedMs);
    },
  };
};

const refuseCommit = (format: IngestFormat, { name, commit, commitMs }: IngestContext): void => {
  if (!HISTORY_FORMATS.has(format)) return;
  if (commit !== undefined) throw badFile(name, '', `is ${format}, which names its commits itself; do not give one`);
  if (commitMs !== undefined) {
    throw badFile(name, '', `is ${format}, which has the times of its commits; leave yours out`);
  }
};

/** What the first line that is not blank shows. */
const detected = async (file: IngestFile, limits: IngestLimits): Promise<IngestFormat | undefined> => {
  // The line may be a whole document.
  const limit = Math.max(limits.maxDocumentBytes, limits.maxLineBytes);
  for await (const { text } of textLines(file.name, file.bytes(), limit, 'maxDocumentBytes, or maxLineBytes')) {
    return formatOfFirstLine(text);
  }
  throw badFile(file.name, '', 'has only blank lines');
};

/** The commits of JSON lines, which every reading parses, with the memory of one line. */
async function* commitsOfLines(
  file: IngestFile,
  context: IngestContext,
  { maxLineBytes }: IngestLimits,
): AsyncGenerator<IngestCommit, void, undefined> {
  refuseCommit('json-lines', context);
  const parse = jsonLineParser(context);
  let isBlank = true;
  for await (const { text, number } of textLines(file.name, file.bytes(), maxLineBytes)) {
    isBlank = false;
    yield parse(text, number);
  }
  if (isBlank) throw badFile(file.name, '', 'has only blank lines');
}

const readDocument = async (
  file: IngestFile,
  context: IngestContext,
  limits: IngestLimits,
  asked: DocumentFormat | undefined,
): Promise<{ readonly format: DocumentFormat; readonly commits: readonly IngestCommit[] }> => {
  const at = file.name;
  const text = utf8Text(at, await wholeBytes(at, file.bytes(), limits.maxDocumentBytes));
  const isScript = asked === undefined || asked === 'github-action-benchmark';
  const document = parseJson(at, isScript ? benchmarkScriptJson(text) : text);
  const format = asked ?? formatOfDocument(document);
  if (format === undefined) throw unknownFormat(at, document);
  if (format === 'json-lines') {
    throw badFile(at, '', 'is a run of a benchmark over several lines; JSON lines have each run on one line');
  }
  refuseCommit(format, context);
  return { format, commits: DOCUMENT_PARSERS[format](document, context) };
};

/**
 * Read an ingest file to its end and throw nothing away but the result: what it holds, or why it is bad. Use it to check a file
 * before anything is written.
 *
 * Throws `ERR_SPANLINE_INVALID_INPUT`, naming the file, the place in it (a JSON pointer, and the line of JSON lines) and the
 * reason; `ERR_SPANLINE_ABORTED` when the signal fires.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { validateIngestFile } from '@spanline/tracedb';
 *
 * const path = './results-to-check.json';
 * const results = [{ key: { test: 'encode', unit: 'ms' }, measurement: 1.5 }];
 * await writeFile(path, JSON.stringify({ version: 1, git_hash: 'c0ffee', results }));
 * const { format, points } = await validateIngestFile(path);
 * console.assert(format === 'perf-json' && points === 1);
 * ```
 */
export const validateIngestFile = async (path: string, options: IngestOptions = {}): Promise<IngestSummary> => {
  const file = await openIngestFile(path, options);
  await file.close();
  return file.summary;
};

/** A file that was checked whole, still open. */
interface CheckedFile {
  readonly summary: IngestSummary;
  /** Its commits: those of a document are in memory, those of JSON lines are parsed again. */
  commits(): Iterable<IngestCommit> | AsyncIterable<IngestCommit>;
  close(): Promise<void>;
}

/** Open an ingest file and check all of it. Whoever gets it must close it. */
export const openIngestFile = async (path: string, options: IngestOptions): Promise<CheckedFile> => {
  const limits = limitsOf(options);
  const file = await openRegularFile(path, options.name ?? path, limits, options.signal);
  try {
    let isFileTime = false;
    const context = contextOf(file, options, () => {
      isFileTime = true;
    });
    const asked = options.format === undefined ? await detected(file, limits) : ingestFormat(options.format);
    const read = asked === 'json-lines' ? undefined : await readDocument(file, context, limits, asked);
    const commits = (): ReturnType<CheckedFile['commits']> => read?.commits ?? commitsOfLines(file, context, limits);
    const summary = { format: read?.format ?? ('json-lines' as const), commits: 0, points: 0 };
    for await (const { points } of commits()) {
      summary.commits++;
      summary.points += points.length;
    }
    return { summary: isFileTime ? { ...summary, isFileTime } : summary, commits, close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/**
 * The commits of an ingest file; use it to write a file into a store. The whole file is checked before the first commit is handed
 * out. JSON lines are then read again line by line, in the memory of the longest line; other formats are held in memory.
 *
 * Throws as `validateIngestFile` does. Where a file measures a series twice in one entry the last measurement counts; two series
 * of an entry that cleaning would make the same are an error.
 *
 * @example
 * ```ts
 * import { writeFile } from 'node:fs/promises';
 * import { readIngestFile } from '@spanline/tracedb';
 *
 * const path = './results.json';
 * const results = [{ key: { test: 'encode', unit: 'ms' }, measurement: 1.5 }];
 * await writeFile(path, JSON.stringify({ version: 1, git_hash: 'c0ffee', results }));
 * for await (const { commit, points } of readIngestFile(path)) {
 *   console.log(commit, points[0].params.test, points[0].value); // c0ffee encode 1.5
 * }
 * ```
 */
export async function* readIngestFile(
  path: string,
  options: IngestOptions = {},
): AsyncGenerator<IngestCommit, void, undefined> {
  const file = await openIngestFile(path, options);
  try {
    yield* file.commits();
  } finally {
    await file.close();
  }
}
