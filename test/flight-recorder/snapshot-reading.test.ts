// While a snapshot is read the event loop goes round: between traces, within a long trace, and while nothing is written yet.
import { expect, test } from 'vitest';
import { SnapshotReading } from '../../src/flight-recorder/snapshot-reading.js';
import type { Snapshot } from '../../src/flight-recorder/snapshot-types.js';
import { snapshotPerfetto } from '../../src/flight-recorder/write-snapshot.js';
import { Span } from '../../src/index.js';
import { flight } from './support/flight.js';

/** Holds the thread for longer than a slice. */
const work = (): void => {
  const end = performance.now() + 2;
  while (performance.now() < end);
};

/** Turns of the event loop while `work` is done. */
const turnsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
};

const drain = async (all: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of all);
};

/** One trace of so many spans; making it ready takes ten steps, each of its traces some time. */
const slow = (traces: number, spans = 1): Snapshot => {
  const it = flight({ maxSpansPerTrace: 100_000 });
  const root = it.root('root');
  for (let i = 1; i < spans; i++) Span.start('child', root).end();
  root.end();
  const taken = it.snapshot();
  const [trace] = taken.traces();
  return {
    reason: taken.reason,
    takenUnixUs: taken.takenUnixUs,
    bufferedMs: taken.bufferedMs,
    spanCount: taken.spanCount,
    resource: taken.resource,
    timeline: [],
    tornRows: 0,
    *steps() {
      for (let i = 0; i < 10; i++) {
        work();
        yield undefined;
      }
      for (let i = 0; i < traces; i++) {
        if (traces > 1) work();
        yield trace;
      }
    },
    traces: () => {
      throw new Error('to be read in steps');
    },
  };
};

test('between traces, and while the snapshot is made ready', async () => {
  const turns = await turnsDuring(() => drain(new SnapshotReading(slow(20), undefined).traces()));
  expect(turns).toBeGreaterThanOrEqual(25);
});

test('within a trace that is long', async () => {
  const reading = new SnapshotReading(slow(1, 50_000), undefined);
  // Without the ten of making it ready.
  expect(await turnsDuring(() => drain(reading.shown()))).toBeGreaterThanOrEqual(13);
});

test('while links are looked for, before anything is written', async () => {
  const pieces = snapshotPerfetto(new SnapshotReading(slow(20), undefined));
  expect(await turnsDuring(() => pieces.next())).toBeGreaterThanOrEqual(25);
});

test('a signal ends it at the next pause', async () => {
  const controller = new AbortController();
  const reading = new SnapshotReading(slow(20), controller.signal);
  setTimeout(() => controller.abort(), 25);
  await expect(drain(reading.traces())).rejects.toMatchObject({ code: 'ERR_SPANLINE_FLIGHT_ABORTED' });
  expect(reading.traceCount).toBeLessThan(20);
});
