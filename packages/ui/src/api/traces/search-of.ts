// The parameters of the page's search as a search of the archive, and running it: a page of traces, and where the next one begins. A wrong parameter
// is refused by its name, never passed over; conditions that cannot be read are never searched for in part. No trace may come twice or be passed over
// between two pages.

import type { Archive, TraceSearch, TraceSummary } from '@spanline/archive';
import {
  durationNs,
  endTimeNs,
  HttpError,
  microsecondsNs,
  pick,
  timeNs,
  wholeNumber,
} from '@spanline/archive/internal';

const PAIR = /\s*(?:"((?:[^"\\]|\\.)*)"|([^\s"=]+))=(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s"]\S*|(?=\s|$)))/y;

const unescaped = (text: string): string => text.replace(/\\(.)/gs, '$1');

/**
 * The pairs of a text: `key=value`, apart by blanks. A key or a value with blanks, `=` or `"` at its start stands in double quotes, in which a
 * backslash takes the next character as it is. Undefined for anything else.
 */
export const quotedPairs = (text: string): Readonly<Record<string, string>> | undefined => {
  const pairs: [string, string][] = [];
  const trimmed = text.trim();
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < trimmed.length) {
    const [whole, quotedKey, key, quotedValue, value = ''] = PAIR.exec(trimmed) ?? [];
    if (whole === undefined) return undefined;
    pairs.push([
      quotedKey === undefined ? key : unescaped(quotedKey),
      quotedValue === undefined ? value : unescaped(quotedValue),
    ]);
  }
  return Object.fromEntries(pairs);
};

/** Traces in a list at most. */
const MAX_TRACES = 1500;
const DEFAULT_TRACES = 200;
const NS_PER_US = 1000n;

/** A place between two traces, the newest being first and those that start at once in the order of their ids. */
interface TraceCursor {
  readonly startUnixNs: bigint;
  readonly traceId: string;
}

/** What the page asks for. */
export interface TraceQuery {
  readonly search: TraceSearch & { readonly limit: number };
  /** Traces that start earlier are not meant. */
  readonly startsFromUnixNs?: bigint;
  /** Only what comes behind this. */
  readonly before?: TraceCursor;
}

type Found = readonly [name: string, text: string];

const read = <T>(query: URLSearchParams, name: string, reader: (found: Found) => T): T | undefined => {
  const found = pick(query, name);
  return found === undefined ? undefined : reader(found);
};

const STATUSES = ['error', 'ok', 'unset'] as const;

const statusOf = ([name, text]: Found): TraceSearch['status'] => {
  const status = STATUSES.find((one) => one === text);
  if (status === undefined) throw new HttpError(400, `the parameter ${name} must be one of ${STATUSES.join(', ')}`);
  return status;
};

const propertiesOf = ([name, text]: Found): Readonly<Record<string, string>> => {
  const pairs = quotedPairs(text);
  if (pairs !== undefined) return pairs;
  throw new HttpError(
    400,
    `the parameter ${name} must be key=value, several apart by blanks; a value with blanks stands in quotes: key="a value"`,
  );
};

/** As the page shows them, in UTC, which may go unsaid. */
const SHOWN_TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(?:\s?UTC)?$/;

const momentBy =
  (read: (found: Found) => bigint) =>
  (found: Found): bigint => {
    const [name, text] = found;
    if (/^\d+$/.test(text)) return microsecondsNs(found);
    return read([name, text.replace(SHOWN_TIME, (_, day, minutes, seconds = ':00') => `${day}T${minutes}${seconds}Z`)]);
  };

const cursorOf = ([name, text]: Found): TraceCursor => {
  const [, ns, traceId] = /^(\d{1,20})-([0-9a-f]{32})$/.exec(text) ?? [];
  if (ns === undefined) throw new HttpError(400, `the parameter ${name} must be the field "next" of an earlier answer`);
  return { startUnixNs: BigInt(ns), traceId };
};

/** Before every other. */
const FIRST_ID = '0'.repeat(32);

/** The cursor behind a trace. */
const cursorText = ({ startUnixNs, traceId }: TraceCursor): string => `${startUnixNs}-${traceId}`;

/** A window of the scatter: starts and durations from and to, whole microseconds, their ends included. */
const windowOf = ([name, text]: Found): readonly bigint[] => {
  const numbers = /^(\d{1,17})-(\d{1,17})-(\d{1,17})-(\d{1,17})$/.exec(text)?.slice(1).map(BigInt);
  if (numbers !== undefined) return numbers;
  throw new HttpError(400, `the parameter ${name} must be FROM-TO-SHORTEST-LONGEST in microseconds`);
};

const min = (a: bigint, b: bigint | undefined): bigint => (b === undefined || a < b ? a : b);
const max = (a: bigint, b: bigint | undefined): bigint => (b === undefined || a > b ? a : b);

const within = (search: TraceQuery['search'], [from, to, shortest, longest]: readonly bigint[]): TraceQuery => {
  const startsFromUnixNs = from * NS_PER_US;
  return {
    search: {
      ...search,
      fromUnixNs: max(startsFromUnixNs, search.fromUnixNs),
      toUnixNs: min((to + 1n) * NS_PER_US - 1n, search.toUnixNs),
      minDurationNs: max(shortest * NS_PER_US, search.minDurationNs),
      maxDurationNs: min((longest + 1n) * NS_PER_US - 1n, search.maxDurationNs),
    },
    startsFromUnixNs,
  };
};

/**
 * `service`, `name`, `status`, `min`, `max` (durations of the trace), `from`, `to` (`15m` for as long ago, RFC 3339, a day, UTC without a zone,
 * Unix microseconds), `properties`, `picked` (a window of the scatter), `before` (the `next` of an earlier answer), `limit`.
 */
export const searchOf = (query: URLSearchParams, maxTraces = MAX_TRACES): TraceQuery => {
  const search = {
    service: query.get('service') || undefined,
    name: query.get('name') || undefined,
    status: read(query, 'status', statusOf),
    minDurationNs: read(query, 'min', durationNs),
    maxDurationNs: read(query, 'max', durationNs),
    fromUnixNs: read(query, 'from', momentBy(timeNs)),
    toUnixNs: read(query, 'to', momentBy(endTimeNs)),
    properties: read(query, 'properties', propertiesOf),
    limit: read(query, 'limit', (found) => wholeNumber(found, 1, maxTraces)) ?? Math.min(DEFAULT_TRACES, maxTraces),
  };
  const window = read(query, 'picked', windowOf);
  const wanted: TraceQuery = window === undefined ? { search } : within(search, window);
  return { ...wanted, before: read(query, 'before', cursorOf) };
};

/** Traces that an archive finds at once. */
const MAX_AT_ONCE = 100_000;

/** Traces, the newest first. */
export interface FoundTraces {
  readonly traces: readonly TraceSummary[];
  /** For `before`: there are more, or may be. */
  readonly next?: string;
  /** The search was ended, because it had read as much as one may: of what began at this time or before, Unix nanoseconds, some may be missing. */
  readonly endedAtNs?: bigint;
}

const isWanted = ({ startsFromUnixNs, before }: TraceQuery): ((trace: TraceSummary) => boolean) => {
  return ({ startUnixNs, traceId }) =>
    (startsFromUnixNs === undefined || startUnixNs >= startsFromUnixNs) &&
    (before === undefined ||
      startUnixNs < before.startUnixNs ||
      (startUnixNs === before.startUnixNs && traceId > before.traceId));
};

/** The page that a search found which was ended, up to where nothing is missing; undefined where it found a whole one. */
const pageUntil = (
  endedAtNs: bigint,
  traces: readonly TraceSummary[],
  { search: { limit, toUnixNs }, before }: TraceQuery,
): FoundTraces | undefined => {
  const page = traces.filter(({ startUnixNs }) => startUnixNs > endedAtNs);
  if (page.length > limit) return undefined;
  // One that comes no further would come no further again: that takes asking for less.
  const isFurther = endedAtNs < min(before?.startUnixNs ?? endedAtNs + 1n, toUnixNs);
  const next = isFurther ? { next: cursorText({ startUnixNs: endedAtNs, traceId: FIRST_ID }) } : {};
  return { traces: isFurther ? page : traces.slice(0, limit), endedAtNs, ...next };
};

/** Traces that a query means; those of one start by id, as the archive has them. */
export const findTraces = async (archive: Archive, query: TraceQuery, signal: AbortSignal): Promise<FoundTraces> => {
  const { before, search, startsFromUnixNs = 0n } = query;
  const { limit, toUnixNs } = search;
  const latest = before !== undefined && (toUnixNs === undefined || before.startUnixNs < toUnixNs);
  const asked = { ...search, toUnixNs: latest ? before.startUnixNs : toUnixNs };
  const isMeant = isWanted(query);
  // One more tells whether there are more; and those at the cursor come again.
  for (let max = limit + (before === undefined ? 1 : 2); ; max *= 4) {
    const limited = Math.min(max, MAX_AT_ONCE);
    let endedAtNs: bigint | undefined;
    const onOver = (latestUnixNs: bigint): void => {
      endedAtNs = latestUnixNs;
    };
    const found = await archive.search({ ...asked, limit: limited }, { signal, onOver });
    const traces = found.filter(isMeant);
    const ended = endedAtNs === undefined ? undefined : pageUntil(endedAtNs, traces, query);
    if (ended !== undefined) return ended;
    const isAll = found.length < limited || found[found.length - 1].startUnixNs < startsFromUnixNs;
    if (traces.length <= limit && !isAll && limited < MAX_AT_ONCE) continue;
    const page = traces.slice(0, limit);
    const isMore = traces.length > limit || (!isAll && page.length > 0);
    return { traces: page, ...(isMore ? { next: cursorText(page[page.length - 1]) } : {}) };
  }
};

/** Those that cost no more than so many bytes in all, from the first on. */
export const withinBytes = (summaries: readonly TraceSummary[], maxBytes: number): TraceSummary[] => {
  let bytes = 0;
  return summaries.filter((summary) => {
    bytes += summary.bytes;
    return bytes <= maxBytes;
  });
};
