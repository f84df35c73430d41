// Any spans and any timeline of one process in 200 microseconds.
import type { TimedSpan, TimeWindow } from '../../../../src/flight-recorder/breakdown/stretches.js';
import type { TimelinePart, TimelineRow } from '../../../../src/flight-recorder/timeline/timeline-row.js';

export const LENGTH = 200;

export interface World {
  readonly spans: readonly TimedSpan[];
  readonly timeline: readonly TimelineRow[];
  readonly covered: readonly TimeWindow[];
}

/** The world that `below` chooses, which gives an integer from 0 to before its argument: of smaller ones a simpler world. */
export const makeWorld = (below: (limit: number) => number): World => {
  const isOne = (percent: number): boolean => below(100) < percent;
  const spans: TimedSpan[] = [];
  const count = 1 + below(14);
  // No two begin at once: which of those is the innermost would be a matter of taste.
  const starts = new Set<number>();
  for (let i = 0; i < count; i++) {
    let startUs = below(LENGTH);
    while (starts.has(startUs)) startUs = (startUs + 1) % LENGTH;
    starts.add(startUs);
    const parent = spans.length > 0 && isOne(70) ? spans[below(spans.length)] : undefined;
    spans.push({
      traceId: parent?.traceId ?? `t${below(3)}`,
      spanId: `s${i}`,
      parentSpanId: parent?.spanId ?? (isOne(20) ? 'gone' : ''),
      name: `n${below(4)}`,
      startUs,
      endUs: Math.min(LENGTH, startUs + below(80)),
      isSync: isOne(50),
    });
  }
  const timeline: TimelineRow[] = [];
  for (let at = below(20); at < LENGTH; at += below(30)) {
    const endUs = Math.min(LENGTH, at + 1 + below(50));
    const parts: TimelinePart[] = [];
    for (let from = at + below(6); from < endUs; from += below(6)) {
      const partEnd = Math.min(endUs, from + 1 + below(12));
      const pick = below(100);
      const span = spans[below(spans.length)];
      if (pick < 50) parts.push({ ...span, startUs: from, endUs: partEnd, frames: [] });
      else if (pick < 70)
        parts.push({ startUs: from, endUs: partEnd, traceId: '', spanId: '', name: '', frames: [`f${below(3)}`] });
      else
        parts.push({
          startUs: from,
          endUs: partEnd,
          traceId: `t${below(4)}`,
          spanId: 'lost',
          name: 'lost',
          frames: [],
        });
      from = partEnd;
    }
    timeline.push({ kind: 'busy', startUs: at, endUs, detail: '', parts });
    at = endUs;
  }
  for (let i = below(6); i > 0; i--) {
    const startUs = below(LENGTH);
    timeline.push({ kind: 'gc', startUs, endUs: startUs + below(20), detail: 'scavenge', parts: [] });
  }
  for (let i = below(4); i > 0; i--) {
    const startUs = below(LENGTH);
    timeline.push({
      kind: 'pool',
      startUs,
      endUs: startUs + 1 + below(40),
      detail: `dns.lookup ${below(2)}`,
      parts: [],
    });
  }
  // Runs nest as they like, and lie within busy stretches or not.
  for (let i = below(5); i > 0; i--) {
    const startUs = below(LENGTH);
    const endUs = Math.min(LENGTH, startUs + 1 + below(30));
    const { traceId, spanId, name } = spans[below(spans.length)];
    const part = { startUs, endUs, traceId, spanId: isOne(80) ? spanId : 'lost', name, frames: [] };
    timeline.push({ kind: 'run', startUs, endUs, detail: '', parts: [part] });
  }
  // Short turns follow one another, at other times than all the rest says: a timeline that was put together from several files may be as odd.
  for (let at = below(60); at < LENGTH; at += below(30)) {
    const endUs = Math.min(LENGTH, at + 1 + below(40));
    timeline.push({ kind: 'turns', startUs: at, endUs, detail: '', parts: [], idleUs: below(endUs - at + 1) });
    at = endUs;
  }
  const covered = [0, 1, 2].slice(below(4)).map((third) => ({ fromUs: third * 60, toUs: third * 60 + 30 + below(60) }));
  return { spans, timeline, covered };
};
