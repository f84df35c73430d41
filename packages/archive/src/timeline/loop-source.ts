// Spans and timelines by process, from where commands and the page find them, and where the time of the slow spans of one trace went: what `spanline
// stalls` and `spanline trace show` tell the use of the event loop from. Must not mix processes, must say where it has not all that an archive has,
// and nothing of spans of processes that kept no timeline of that time.
import { getOrMake } from 'spanline/internal/base';
import { ownResource } from 'spanline/internal/formats';
import type { ArchivedResource, ArchivedSpan } from 'spanline/internal/record';
import {
  BreakdownIndex,
  breakdownIndexOf,
  formatBreakdown,
  type Snapshot,
  type Stall,
  stalls,
  type TimeBreakdown,
  type TimedSpan,
  type TimelineRow,
  type TimeWindow,
  timeBreakdown,
} from 'spanline/internal/timeline';
import type { Archive } from '../archive.js';
import { processOf } from './timeline-files.js';

/** What is known of one process in a stretch of time. */
interface LoopSource {
  /** Names the process. */
  readonly process: string;
  readonly spans: readonly TimedSpan[];
  readonly timeline: readonly TimelineRow[];
  /** When the timeline was kept. */
  readonly covered: readonly TimeWindow[];
}

/** A stall and the process that had it. */
export type ProcessStall = Stall & { readonly process: string };

/** How an archive is read for this. */
interface LoopRead {
  readonly signal: AbortSignal;
  /** Told what the answer does not rest on. */
  readonly note?: (text: string) => void;
}

/** Traces read for one stretch of time. */
const MAX_TRACES = 5000;

const NS_PER_US = 1000n;

/** A double of nanoseconds would be off by a quarter of a microsecond. */
const toUs = (ns: bigint): number => Number(ns / NS_PER_US) + Number(ns % NS_PER_US) / 1000;
const toNs = (us: number): bigint => BigInt(Math.round(us)) * NS_PER_US;

const timedSpan = ({
  traceId,
  spanId,
  parentSpanId,
  name,
  startUnixNs,
  endUnixNs,
  isLocal,
}: ArchivedSpan): TimedSpan => ({
  ...{ traceId, spanId, parentSpanId, name },
  startUs: toUs(startUnixNs),
  endUs: toUs(endUnixNs),
  isSync: isLocal === true,
});

/** From the first start to the last end. */
const windowOf = (spans: readonly ArchivedSpan[]): TimeWindow => ({
  fromUs: spans.reduce((min, { startUnixNs }) => Math.min(min, toUs(startUnixNs)), Number.POSITIVE_INFINITY),
  toUs: spans.reduce((max, { endUnixNs }) => Math.max(max, toUs(endUnixNs)), 0),
});

/** The spans of traces that were under way, by process. */
const spansOf = async (archive: Archive, { fromUs, toUs: endUs }: TimeWindow, { signal, note }: LoopRead) => {
  const search = { fromUnixNs: toNs(fromUs), toUnixNs: toNs(endUs), limit: MAX_TRACES };
  const summaries = await archive.search(search, { signal });
  if (summaries.length === MAX_TRACES)
    note?.(
      `more than ${MAX_TRACES} traces were in flight at once: only the newest of them are searched for who had the event loop`,
    );
  const traces = await archive.traces(
    summaries.map(({ traceId }) => traceId),
    { signal },
  );
  const names = new WeakMap<ArchivedResource, string>();
  const byProcess = new Map<string, TimedSpan[]>();
  for (const span of [...traces.values()].flat()) {
    const process = getOrMake(names, span.resource, processOf);
    getOrMake(byProcess, process, () => []).push(timedSpan(span));
  }
  return byProcess;
};

/** The timelines of this time by process, without spans. */
const timelinesOf = async (archive: Archive, { fromUs, toUs: endUs }: TimeWindow): Promise<LoopSource[]> => {
  const byProcess = new Map<string, { timeline: TimelineRow[]; covered: TimeWindow[] }>();
  for (const { process, fromUs: from, toUs: to, rows } of await archive.timeline(fromUs, endUs)) {
    const known = getOrMake(byProcess, process, () => ({ timeline: [], covered: [] }));
    for (const row of rows) if (row.startUs <= endUs && row.endUs >= fromUs) known.timeline.push(row);
    known.covered.push({ fromUs: from, toUs: to });
  }
  return [...byProcess].map(([process, known]) => ({ process, spans: [], ...known }));
};

/** All processes of an archive that kept a timeline of this time. */
export const archiveSources = async (archive: Archive, window: TimeWindow, read: LoopRead): Promise<LoopSource[]> => {
  const timelines = await timelinesOf(archive, window);
  if (timelines.length === 0) return [];
  const spans = await spansOf(archive, window, read);
  return timelines.map((timeline) => ({ ...timeline, spans: spans.get(timeline.process) ?? [] }));
};

const longestFirst = (a: ProcessStall, b: ProcessStall): number => b.durationUs - a.durationUs || a.startUs - b.startUs;

/** The worst stalls of some processes. */
const worstStalls = (sources: readonly LoopSource[], limit: number): ProcessStall[] =>
  sources
    .flatMap(({ process, spans, timeline, covered }) =>
      stalls(new BreakdownIndex(spans, timeline, covered), limit).map((stall) => ({ ...stall, process })),
    )
    .sort(longestFirst)
    .slice(0, limit);

/** The worst stalls of an archive in this time; undefined where it has no timeline of it. Only the traces that were in flight then are read. */
export const archiveStalls = async (
  archive: Archive,
  window: TimeWindow,
  limit: number,
  read: LoopRead,
): Promise<ProcessStall[] | undefined> => {
  const timelines = await timelinesOf(archive, window);
  if (timelines.length === 0) return undefined;
  const found: ProcessStall[] = [];
  for (const { process, kind, startUs, durationUs } of worstStalls(timelines, limit)) {
    const endUs = startUs + durationUs;
    const spans = await spansOf(archive, { fromUs: startUs, toUs: endUs }, read);
    const { timeline, covered } = timelines.find((one) => one.process === process) as LoopSource;
    const rows = timeline.filter((row) => row.startUs < endUs && row.endUs > startUs);
    const own = { process, spans: spans.get(process) ?? [], timeline: rows, covered };
    found.push(...worstStalls([own], rows.length).filter((stall) => stall.startUs === startUs && stall.kind === kind));
  }
  return found.sort(longestFirst);
};

/** The worst stalls of a snapshot in this time; undefined where it has no timeline. */
export const snapshotStalls = (snapshot: Snapshot, window: TimeWindow, limit: number): ProcessStall[] | undefined => {
  if (snapshot.timelineFromUs === undefined) return undefined;
  const process = processOf(ownResource(snapshot.resource));
  return stalls(breakdownIndexOf(snapshot), limit, window).map((stall) => ({ ...stall, process }));
};

/** A span and where its time went. */
export interface SpanBreakdown extends TimeBreakdown {
  readonly spanId: string;
  readonly name: string;
}

/** Slow: this share of the root's time, and longer than this. */
const SHARE = 10n;
const MIN_NS = 1_000_000n;
const MAX_SPANS = 10;

const durationOf = ({ startUnixNs, endUnixNs }: ArchivedSpan): bigint => endUnixNs - startUnixNs;

/** The root, and the slowest below it. */
const slowSpans = ([root, ...rest]: readonly ArchivedSpan[]): ArchivedSpan[] => {
  const slow = rest.filter((span) => durationOf(span) > MIN_NS && durationOf(span) * SHARE >= durationOf(root));
  return [root, ...slow.sort((a, b) => Number(durationOf(b) - durationOf(a))).slice(0, MAX_SPANS - 1)];
};

/** Of a trace, the root first, by an index for each span; undefined where there is none. */
export const breakdownsIn = (
  spans: readonly ArchivedSpan[],
  indexOf: (span: ArchivedSpan) => BreakdownIndex | undefined,
): SpanBreakdown[] =>
  slowSpans(spans).flatMap((span) => {
    const index = indexOf(span);
    const breakdown = index === undefined ? undefined : timeBreakdown(index, span);
    return breakdown === undefined ? [] : [{ spanId: span.spanId, name: span.name, ...breakdown }];
  });

/** As lines below their spans. */
export const breakdownNotes = (breakdowns: readonly SpanBreakdown[]): Map<string, string> =>
  new Map(breakdowns.map((breakdown) => [breakdown.spanId, formatBreakdown(breakdown)]));

/** Of a trace as the archive gives it: the root first. */
export const breakdownsOf = async (
  archive: Archive,
  spans: readonly ArchivedSpan[],
  read: LoopRead,
): Promise<SpanBreakdown[]> => {
  const sources = await archiveSources(archive, windowOf(spans), read);
  if (sources.length === 0) return [];
  const indexes = new Map(
    sources.map(({ process, spans: own, timeline, covered }) => [process, new BreakdownIndex(own, timeline, covered)]),
  );
  return breakdownsIn(spans, (span) => indexes.get(processOf(span.resource)));
};
