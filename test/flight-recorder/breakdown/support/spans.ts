// Spans and rows of a timeline for tests of the breakdown of time, told in few words.

import type { TimedSpan } from '../../../../src/flight-recorder/breakdown/stretches.js';
import type { TimeBreakdown } from '../../../../src/flight-recorder/breakdown/tally.js';
import type { TimelinePart, TimelineRow } from '../../../../src/flight-recorder/timeline/timeline-row.js';

type Time = readonly [startUs: number, endUs: number];

/** `trace/id` or `trace/id<parent`; with `local` a synchronous stretch. */
export const span = (path: string, name: string, [startUs, endUs]: Time, local?: 'local'): TimedSpan => {
  const [, traceId, spanId, parentSpanId = ''] = /^(\w+)\/(\w+)(?:<(\w+))?$/.exec(path) as RegExpExecArray;
  return { traceId, spanId, parentSpanId, name, startUs, endUs, isSync: local !== undefined };
};

/** A part that was this span's; without one, of nobody. */
export const part = (
  of: TimedSpan | undefined,
  [startUs, endUs]: Time,
  frames: readonly string[] = [],
): TimelinePart => ({
  startUs,
  endUs,
  traceId: of?.traceId ?? '',
  spanId: of?.spanId ?? '',
  name: of?.name ?? '',
  frames,
});

export const busy = ([startUs, endUs]: Time, ...parts: TimelinePart[]): TimelineRow => ({
  kind: 'busy',
  startUs,
  endUs,
  detail: '',
  parts,
});

export const gc = ([startUs, endUs]: Time): TimelineRow => ({
  kind: 'gc',
  startUs,
  endUs,
  detail: 'mark-compact',
  parts: [],
});

export const pool = ([startUs, endUs]: Time, detail = 'dns.lookup 12'): TimelineRow => ({
  kind: 'pool',
  startUs,
  endUs,
  detail,
  parts: [],
});

/** Turns of the loop in which it was idle for so long. */
export const turns = ([startUs, endUs]: Time, idleUs: number): TimelineRow => ({
  kind: 'turns',
  startUs,
  endUs,
  detail: '',
  parts: [],
  idleUs,
});

export const sumOf = ({ ownUs, gcUs, othersUs, untracedUs, shortUs, waitingUs, unknownUs }: TimeBreakdown): number =>
  ownUs + gcUs + othersUs + untracedUs + shortUs + waitingUs + unknownUs;
