// Any spans and any lane of one process in 200 microseconds.
import type { TimedSpan, TimeWindow } from '../../../../src/flight-recorder/division/timed-span.js';
import type { LanePart, LaneRow } from '../../../../src/flight-recorder/lane/lane-row.js';
import { seeded } from './spans.js';

const LENGTH = 200;

export interface World {
  readonly spans: readonly TimedSpan[];
  readonly lane: readonly LaneRow[];
  readonly covered: readonly TimeWindow[];
}

/** The same world for the same seed. */
export const makeWorld = (seed: number): World => {
  const random = seeded(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const spans: TimedSpan[] = [];
  const count = 1 + below(14);
  // No two begin at once: which of those is the innermost would be a matter of taste.
  const starts = Array.from({ length: LENGTH }, (_, i) => i).sort(() => random() - 0.5);
  for (let i = 0; i < count; i++) {
    const startUs = starts[i];
    const parent = spans.length > 0 && random() < 0.7 ? spans[below(spans.length)] : undefined;
    spans.push({
      traceId: parent?.traceId ?? `t${below(3)}`,
      spanId: `s${i}`,
      parentSpanId: parent?.spanId ?? (random() < 0.2 ? 'gone' : ''),
      name: `n${below(4)}`,
      startUs,
      endUs: Math.min(LENGTH, startUs + below(80)),
      isSync: random() < 0.5,
    });
  }
  const lane: LaneRow[] = [];
  for (let at = below(20); at < LENGTH; at += below(30)) {
    const endUs = Math.min(LENGTH, at + 1 + below(50));
    const parts: LanePart[] = [];
    for (let from = at + below(6); from < endUs; from += below(6)) {
      const partEnd = Math.min(endUs, from + 1 + below(12));
      const pick = random();
      const span = spans[below(spans.length)];
      if (pick < 0.5) parts.push({ ...span, startUs: from, endUs: partEnd, frames: [] });
      else if (pick < 0.7)
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
    lane.push({ kind: 'busy', startUs: at, endUs, detail: '', parts });
    at = endUs;
  }
  for (let i = below(6); i > 0; i--) {
    const startUs = below(LENGTH);
    lane.push({ kind: 'gc', startUs, endUs: startUs + below(20), detail: 'scavenge', parts: [] });
  }
  for (let i = below(4); i > 0; i--) {
    const startUs = below(LENGTH);
    lane.push({ kind: 'pool', startUs, endUs: startUs + 1 + below(40), detail: `dns.lookup ${below(2)}`, parts: [] });
  }
  // Runs nest as they like, and lie within busy stretches or not.
  for (let i = below(5); i > 0; i--) {
    const startUs = below(LENGTH);
    const endUs = Math.min(LENGTH, startUs + 1 + below(30));
    const { traceId, spanId, name } = spans[below(spans.length)];
    const part = { startUs, endUs, traceId, spanId: random() < 0.8 ? spanId : 'lost', name, frames: [] };
    lane.push({ kind: 'run', startUs, endUs, detail: '', parts: [part] });
  }
  const covered = [0, 1, 2].slice(below(4)).map((third) => ({ fromUs: third * 60, toUs: third * 60 + 30 + below(60) }));
  return { spans, lane, covered };
};
