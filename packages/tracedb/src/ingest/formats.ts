// The formats of ingest files, and which one a file has. A format must never be told by the name of the file: names are free.
import { invalidInput, type TraceDbError } from '../tracedb-error.js';
import { badFile, quoted, shown } from './bad-file.js';
import { isBenchmarkScript, parseGithubActionBenchmark } from './benchmark-run.js';
import type { IngestCommit, IngestContext } from './ingest-commit.js';
import { parsePerfJson } from './perf-json.js';
import { isObject } from './shape.js';
import { parseSpanlineBench } from './spanline-bench.js';

/** Turns a parsed document into commits. */
type DocumentParser = (document: unknown, context: IngestContext) => readonly IngestCommit[];

/** The formats that are one JSON document. */
export const DOCUMENT_PARSERS = {
  'perf-json': parsePerfJson,
  'github-action-benchmark': parseGithubActionBenchmark,
  'spanline-bench': parseSpanlineBench,
} as const satisfies Record<string, DocumentParser>;

/** A format that is one JSON document. */
export type DocumentFormat = keyof typeof DOCUMENT_PARSERS;

/** A format of ingest files. */
export type IngestFormat = DocumentFormat | 'json-lines';

/** All formats, for the help of commands. */
export const INGEST_FORMATS: readonly IngestFormat[] = Object.freeze([
  'perf-json',
  'github-action-benchmark',
  'json-lines',
  'spanline-bench',
]);

/** Formats that say for themselves which commits were measured, and name many. */
export const HISTORY_FORMATS: ReadonlySet<IngestFormat> = new Set(['github-action-benchmark', 'json-lines']);

/** The format of this name. Throws `ERR_SPANLINE_INVALID_INPUT` with the names there are. */
export const ingestFormat = (name: string): IngestFormat => {
  const format = INGEST_FORMATS.find((known) => known === name);
  if (format !== undefined) return format;
  throw invalidInput(`there is no ingest format ${quoted(String(name))}; there are ${INGEST_FORMATS.join(', ')}`);
};

/** The properties by which a document is recognised; the first row of which it has all decides. */
const MARKS: readonly (readonly [IngestFormat, readonly string[]])[] = [
  ['json-lines', ['commit', 'benches']],
  ['perf-json', ['git_hash']],
  ['spanline-bench', ['suite', 'results']],
  ['github-action-benchmark', ['entries']],
  // What only lacks the hash: its schema says so better than a list of formats.
  ['perf-json', ['version', 'results']],
];

/** The format of a parsed document, or of a parsed first line; undefined when it has none. */
export const formatOfDocument = (document: unknown): IngestFormat | undefined => {
  if (!isObject(document)) return undefined;
  return MARKS.find(([, properties]) => properties.every((property) => Object.hasOwn(document, property)))?.[0];
};

/** The format a file's first line shows; undefined when only the whole file can tell. */
export const formatOfFirstLine = (line: string): IngestFormat | undefined => {
  if (isBenchmarkScript(line)) return 'github-action-benchmark';
  try {
    return formatOfDocument(JSON.parse(line));
  } catch {
    return undefined;
  }
};

/** The error for a file of no known format. */
export const unknownFormat = (at: string, document: unknown): TraceDbError => {
  const keys = isObject(document) ? Object.keys(document).slice(0, 5).map(quoted).join(', ') : '';
  const what = keys === '' ? shown(document) : `an object with ${keys}`;
  return badFile(at, '', `is ${what}, which is none of the formats ${INGEST_FORMATS.join(', ')}`);
};
