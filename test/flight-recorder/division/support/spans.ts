// Spans and rows of a lane for tests of the division of time, told in few words.
import type { Division } from '../../../../src/flight-recorder/division/division.js';
import type { TimedSpan } from '../../../../src/flight-recorder/division/timed-span.js';
import type { LanePart, LaneRow } from '../../../../src/flight-recorder/lane/lane-row.js';

type Time = readonly [startUs: number, endUs: number];

/** `trace/id` or `trace/id<parent`; with `local` a synchronous stretch. */
export const span = (path: string, name: string, [startUs, endUs]: Time, local?: 'local'): TimedSpan => {
  const [, traceId, spanId, parentSpanId = ''] = /^(\w+)\/(\w+)(?:<(\w+))?$/.exec(path) as RegExpExecArray;
  return { traceId, spanId, parentSpanId, name, startUs, endUs, isSync: local !== undefined };
};

/** A part that was this span's; without one, of nobody. */
export const part = (of: TimedSpan | undefined, [startUs, endUs]: Time, frames: readonly string[] = []): LanePart => ({
  startUs,
  endUs,
  traceId: of?.traceId ?? '',
  spanId: of?.spanId ?? '',
  name: of?.name ?? '',
  frames,
});

export const busy = ([startUs, endUs]: Time, ...parts: LanePart[]): LaneRow => ({
  kind: 'busy',
  startUs,
  endUs,
  detail: '',
  parts,
});

export const gc = ([startUs, endUs]: Time): LaneRow => ({
  kind: 'gc',
  startUs,
  endUs,
  detail: 'mark-compact',
  parts: [],
});

export const pool = ([startUs, endUs]: Time, detail = 'dns.lookup 12'): LaneRow => ({
  kind: 'pool',
  startUs,
  endUs,
  detail,
  parts: [],
});

/** Turns of the loop in which it was idle for so long. */
export const turns = ([startUs, endUs]: Time, idleUs: number): LaneRow => ({
  kind: 'turns',
  startUs,
  endUs,
  detail: '',
  parts: [],
  idleUs,
});

export const sumOf = ({ ownUs, gcUs, othersUs, untracedUs, shortUs, waitingUs, unknownUs }: Division): number =>
  ownUs + gcUs + othersUs + untracedUs + shortUs + waitingUs + unknownUs;
