// Works in pieces shorter than what makes a busy stretch, and prints where the timeline says that the time went, beside what the program has counted itself.
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BreakdownIndex,
  monitorEventLoop,
  type TimeBreakdown,
  type TimedSpan,
  type TimelineRow,
  timeBreakdown,
} from '../../../../src/flight-recorder/index.js';
import { unixNow } from '../../../../src/flight-recorder/timeline/timeline-row.js';

const PIECES = 8;
const PIECE_MS = 3;
/** A machine under load makes pieces longer than they are: such a round is taken again. */
const MAX_ROUNDS = 60;

const timeline = monitorEventLoop();

const spin = (ms: number): number => {
  const began = performance.now();
  while (performance.now() < began + ms);
  return performance.now() - began;
};

const ids = { traceId: 'a'.repeat(32), spanId: '1'.repeat(16), parentSpanId: '', name: 'request', isSync: false };

/** `pause` is what comes behind each piece. */
const request = async (pause: () => Promise<unknown>) => {
  // A turn of its own.
  await sleep(20);
  const idleMs = performance.eventLoopUtilization().idle;
  const startUs = unixNow();
  let workedMs = 0;
  const local: TimedSpan[] = [];
  for (let i = 0; i < PIECES; i++) {
    const beganUs = unixNow();
    workedMs += spin(PIECE_MS);
    if (i % 2 === 0)
      local.push({
        ...ids,
        spanId: `2${i}`,
        parentSpanId: ids.spanId,
        name: 'part',
        startUs: beganUs,
        endUs: unixNow(),
        isSync: true,
      });
    await pause();
  }
  const span = { ...ids, startUs, endUs: unixNow() };
  const measured = { workedUs: workedMs * 1000, idleUs: (performance.eventLoopUtilization().idle - idleMs) * 1000 };
  await sleep(20);
  const rows = timeline.rows().filter((row) => row.startUs < span.endUs && row.endUs > span.startUs);
  const covered = [{ fromUs: 0, toUs: unixNow() }];
  const of = (spans: readonly TimedSpan[]) =>
    timeBreakdown(new BreakdownIndex([span, ...spans], rows, covered), span) as TimeBreakdown;
  return { ...measured, rows, alone: of([]), withLocal: of(local) };
};

/** The round in which nothing took longer than it should. */
const quietRound = async <T extends { readonly rows: readonly TimelineRow[] }>(round: () => Promise<T>): Promise<T> => {
  for (let i = 1; ; i++) {
    const result = await round();
    if (i === MAX_ROUNDS || result.rows.every(({ kind }) => kind !== 'busy')) return result;
  }
};

const idle = async () => {
  await sleep(50);
  const fromUs = unixNow();
  await sleep(300);
  return { rows: timeline.rows(fromUs) };
};

const programs: Record<string, () => Promise<unknown>> = {
  'without a wait': () => quietRound(() => request(() => new Promise(setImmediate))),
  'with waits': () => quietRound(() => request(() => sleep(10))),
  idle: async () => {
    for (let i = 1; ; i++) {
      const { rows } = await idle();
      if (i === MAX_ROUNDS || rows.length === 0) return rows;
    }
  },
  // A span that is asked about while it goes on: what the loop has worked up to now is known.
  open: async () => {
    const round = async () => {
      await sleep(20);
      const startUs = unixNow();
      const workedUs = spin(PIECE_MS) * 1000;
      const rows = timeline.rows(startUs);
      const again = timeline.rows(startUs);
      await sleep(20);
      return { workedUs, rows, again, after: timeline.rows(startUs) };
    };
    return quietRound(round);
  },
};

console.log(JSON.stringify(await programs[process.argv[2]]()));
timeline.stop();
