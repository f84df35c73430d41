// Summaries of traces: read page by page, shown as rows or as JSON, and which trace a person means: a whole id, a shorter one of older tracers, or
// the beginning of one, as long as only one begins so. Times are exact to the nanosecond in JSON and short in rows.
import type { Archive, TraceSearch, TraceSummary } from '@spanline/archive';
import { escapeText, isBucket } from 'spanline/internal/base';
import { formatDuration, shortTime } from 'spanline/internal/formats';
import { type CommandError, failed, notFound, wrongUsage } from '../exit-code.js';
import { glyphsOf } from '../glyphs.js';
import { columns } from '../output.js';
import { exactTime, formatBytes } from '../terminal.js';
import { MAX_LIMIT } from './search-options.js';

/** A summary for a program: big numbers as text, as OTLP writes them. */
export const summaryJson = (summary: TraceSummary) => {
  const { startUnixNs, durationNs } = summary;
  return {
    ...summary,
    startUnixNs: String(startUnixNs),
    durationNs: String(durationNs),
    start: exactTime(startUnixNs),
    end: exactTime(startUnixNs + durationNs),
  };
};

/** Summaries for a person, one a line. */
export const summaryRows = (summaries: readonly TraceSummary[]): string =>
  columns(
    ['trace', 'start (UTC)', 'duration', 'spans', 'errors', 'size', 'service', 'name'],
    summaries.map(({ traceId, startUnixNs, durationNs, spanCount, errorCount, bytes, service, name, isComplete }) => [
      traceId,
      shortTime(startUnixNs),
      formatDuration(Number(durationNs), glyphsOf()),
      // Parents are absent.
      `${spanCount}${isComplete ? '' : '?'}`,
      String(errorCount),
      formatBytes(bytes),
      service,
      name,
    ]),
    'llrrrrll',
  );

/**
 * All traces that meet the conditions, in pages, the newest first, each trace once. Holds the ids that were handed out: traces go on coming,
 * and late spans can move one between pages.
 */
export const eachSummary = async function* (
  archive: Archive,
  search: TraceSearch,
  signal: AbortSignal,
): AsyncGenerator<readonly TraceSummary[]> {
  const seen = new Set<string>();
  const limit = search.limit ?? Number.POSITIVE_INFINITY;
  for (let to = search.toUnixNs; ; ) {
    const page = await archive.search({ ...search, toUnixNs: to, limit: MAX_LIMIT }, { signal });
    const fresh = page.filter(({ traceId }) => !seen.has(traceId)).slice(0, limit - seen.size);
    for (const { traceId } of fresh) seen.add(traceId);
    yield fresh;
    if (page.length < MAX_LIMIT || seen.size >= limit) return;
    if (fresh.length === 0) {
      throw failed(
        'ERR_SPANLINE_ARCHIVE_PAGE',
        `more than ${MAX_LIMIT} traces begin at ${exactTime(page[0].startUnixNs)}: choose among them with further options`,
      );
    }
    to = page[page.length - 1].startUnixNs;
  }
};

const ID_LENGTH = 32;
/** Ids of older tracers have 64 bits, written without zeros in front. */
const SHORT_ID_LENGTH = 16;
/** Ids that are named when several begin alike. */
const NAMED = 5;

const noTrace = (text: string): CommandError => notFound(`the archive has no trace ${text}`);

/** What somebody wrote as an id, or as its beginning. */
export const idDigits = (text: string): string => {
  const wanted = text.toLowerCase();
  if (/^[0-9a-f]{1,32}$/.test(wanted)) return wanted;
  throw wrongUsage(`${JSON.stringify(text)} is not a trace id: up to 32 hex digits, or the first of them`);
};

/** The id of the one trace that is meant. */
export const findTraceId = async (
  archive: Archive,
  text: string,
  signal: AbortSignal,
  fromUnixNs?: bigint,
): Promise<string> => {
  const wanted = idDigits(text);
  if (wanted.length >= SHORT_ID_LENGTH) {
    const id = wanted.padStart(ID_LENGTH, '0');
    if ((await archive.traces([id], { signal })).has(id)) return id;
    if (wanted.length === ID_LENGTH) throw noTrace(text);
  }
  if (fromUnixNs === undefined && isBucket(archive.directory))
    throw wrongUsage(
      `${text} is the beginning of an id: write all of it, or --from, such as --from 1h: in a bucket all traces since then are looked through`,
    );
  const found: TraceSummary[] = [];
  for await (const page of eachSummary(archive, { fromUnixNs }, signal)) {
    found.push(...page.filter(({ traceId }) => traceId.startsWith(wanted)).slice(0, NAMED + 1));
    if (found.length > NAMED) break;
  }
  if (found.length === 0) throw noTrace(text);
  if (found.length === 1) return found[0].traceId;
  const lines = found
    .slice(0, NAMED)
    .map(({ traceId, startUnixNs, name }) => `\n  ${traceId}  ${shortTime(startUnixNs)}  ${escapeText(name)}`);
  throw wrongUsage(
    `several traces begin with ${text}; write more of the one that is meant:${lines.join('')}${found.length > NAMED ? '\n  ...' : ''}`,
  );
};
