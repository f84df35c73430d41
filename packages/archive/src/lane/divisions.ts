// Where the time of the slow spans of one trace went, told from the lanes that the archive keeps. Must say nothing of spans of processes that kept
// no lane of that time.

import type { ArchivedSpan } from 'spanline/internal/record';
import { BreakdownIndex, formatBreakdown, type TimeBreakdown, timeBreakdown } from 'spanline/internal/timeline';
import type { Archive } from '../archive.js';
import { processOf } from './lane-stretch.js';
import { archiveSources, type LoopRead, windowOf } from './loop-source.js';

/** A span and where its time went. */
export interface SpanDivision extends TimeBreakdown {
  readonly spanId: string;
  readonly name: string;
}

/** Slow: this share of the root's time, and longer than this. */
const SHARE = 10n;
const LEAST_NS = 1_000_000n;
const MOST_SPANS = 10;

const durationOf = ({ startUnixNs, endUnixNs }: ArchivedSpan): bigint => endUnixNs - startUnixNs;

/** The root, and the slowest below it. */
const slowSpans = ([root, ...rest]: readonly ArchivedSpan[]): ArchivedSpan[] => {
  const slow = rest.filter((span) => durationOf(span) > LEAST_NS && durationOf(span) * SHARE >= durationOf(root));
  return [root, ...slow.sort((a, b) => Number(durationOf(b) - durationOf(a))).slice(0, MOST_SPANS - 1)];
};

/** Of a trace, the root first, by an index for each span; undefined where there is none. */
export const divisionsIn = (
  spans: readonly ArchivedSpan[],
  indexOf: (span: ArchivedSpan) => BreakdownIndex | undefined,
): SpanDivision[] =>
  slowSpans(spans).flatMap((span) => {
    const index = indexOf(span);
    const division = index === undefined ? undefined : timeBreakdown(index, span);
    return division === undefined ? [] : [{ spanId: span.spanId, name: span.name, ...division }];
  });

/** As lines below their spans. */
export const divisionNotes = (divisions: readonly SpanDivision[]): Map<string, string> =>
  new Map(divisions.map((division) => [division.spanId, formatBreakdown(division)]));

/** Of a trace as the archive gives it: the root first. */
export const divisionsOf = async (
  archive: Archive,
  spans: readonly ArchivedSpan[],
  read: LoopRead,
): Promise<SpanDivision[]> => {
  const sources = await archiveSources(archive, windowOf(spans), read);
  if (sources.length === 0) return [];
  const indexes = new Map(
    sources.map(({ process, spans: own, lane, covered }) => [process, new BreakdownIndex(own, lane, covered)]),
  );
  return divisionsIn(spans, (span) => indexes.get(processOf(span.resource)));
};
