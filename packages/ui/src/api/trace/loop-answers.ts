// Where the time of spans went, and the timeline of the process, as the page shows them.
import { processLabel } from '@spanline/archive/internal';
import {
  formatBreakdown,
  namedStack,
  stackName,
  type TimeBreakdown,
  type TimelinePart,
  type TimelineRow,
} from 'spanline/internal/timeline';
import type { BreakdownAnswer, PartKind, TimelineAnswer, TimelineStretchAnswer } from './answers.js';

/** Stretches of one process in an answer; the longest. */
const MAX_STRETCHES = 5000;
const HOLDERS = 3;

/** A breakdown, for the span at a place. */
export const breakdownAnswer = (span: number, breakdown: TimeBreakdown): BreakdownAnswer => {
  const parts: [PartKind, number][] = [
    ['own', breakdown.ownUs],
    ['loop', breakdown.othersUs],
    ['gc', breakdown.gcUs],
    ['untraced', breakdown.untracedUs],
    ['short', breakdown.shortUs],
    ['waiting', breakdown.waitingUs],
    ['unknown', breakdown.unknownUs],
  ];
  return {
    span,
    text: formatBreakdown(breakdown),
    durationUs: breakdown.durationUs,
    parts: parts.filter(([, us]) => us > 0).map(([kind, us]) => ({ kind, us })),
    others: breakdown.others,
    frames: breakdown.untracedFrames.map(({ frames, us }) => ({ frames: namedStack(frames), us })),
    poolUs: breakdown.poolUs,
    poolWaits: breakdown.poolWaits,
  };
};

/** Those that had the loop longest in a stretch. */
const holdersOf = (parts: readonly TimelinePart[]): TimelineStretchAnswer['holders'] => {
  const byHolder = new Map<string, { name: string; traceId: string; us: number }>();
  for (const { name, traceId, frames, startUs, endUs } of parts) {
    const shown = name || stackName(frames) || 'untraced';
    const holder = byHolder.get(traceId + shown) ?? { name: shown, traceId, us: 0 };
    byHolder.set(traceId + shown, holder);
    holder.us += endUs - startUs;
  }
  return [...byHolder.values()].sort((a, b) => b.us - a.us).slice(0, HOLDERS);
};

/**
 * The timeline of a process as it is drawn; `startUs` is Unix time in microseconds at which the trace began. Runs are in the spans themselves, and
 * short turns in their breakdowns: both are for the breakdown of time.
 */
export const timelineAnswer = (process: string, rows: readonly TimelineRow[], startUs: number): TimelineAnswer => {
  const drawn = rows.flatMap(({ kind, ...row }) => (kind === 'run' || kind === 'turns' ? [] : [{ kind, ...row }]));
  return {
    process: processLabel(process),
    stretches: drawn
      .toSorted((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs))
      .slice(0, MAX_STRETCHES)
      .sort((a, b) => a.startUs - b.startUs)
      .map((row) => ({
        kind: row.kind,
        startUs: row.startUs - startUs,
        durationUs: row.endUs - row.startUs,
        detail: row.detail,
        holders: holdersOf(row.parts),
      })),
    leftOut: Math.max(0, drawn.length - MAX_STRETCHES),
  };
};
