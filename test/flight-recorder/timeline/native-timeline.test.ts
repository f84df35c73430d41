// Rows of the timeline stand where they were in Unix time, also where the system takes the processor between the readings of two clocks.
import { expect, test } from 'vitest';
import { type FastCall, loadFastCall } from '../../../src/clock/binding.js';
import type { QueueSwitches } from '../../../src/context/process-state.js';
import { Ring } from '../../../src/flight-recorder/timeline/native-rings.js';
import { NativeTimeline } from '../../../src/flight-recorder/timeline/native-timeline.js';
import { unixNow } from '../../../src/flight-recorder/timeline/timeline-row.js';

const loaded = loadFastCall() as { module?: FastCall };
const addon = loaded.module as Required<FastCall> | undefined;

const ROWS = 4;
const FIRST_ROW = 10;

/** The rows of a timeline that has seen one collection, where 50 ms pass behind the first reading of its clock. */
const interrupted = ({ timelineNow: realNow, ...rest }: Required<FastCall>, startNs: number) => {
  let isOver = false;
  const timelineNow = (): number => {
    const ns = realNow();
    const end = performance.now() + (isOver ? 0 : 50);
    while (performance.now() < end);
    isOver = true;
    return ns;
  };
  const timelineStart: FastCall['timelineStart'] = (cells) => {
    cells[Ring.gc] = 1;
    cells.set([startNs, startNs + 2e6, 1], FIRST_ROW + Ring.gc * ROWS * 3);
    return true;
  };
  loaded.module = { ...rest, timelineNow, timelineOpen: timelineNow, timelineStart, timelineStop: () => {} };
  try {
    const switches: QueueSwitches = { counts: new Int32Array(2), left: undefined, ran: () => {} };
    const timeline = NativeTimeline.start(10_000, ROWS, switches);
    const rows = timeline?.rows().filter(({ kind }) => kind === 'gc') ?? [];
    timeline?.stop();
    return rows;
  } finally {
    loaded.module = addon as FastCall;
  }
};

test.runIf(addon?.timelineNow !== undefined)('a collection is where it was', () => {
  const { timelineNow } = addon as Required<FastCall>;
  // Read here as it is read there: as close together as it can be.
  const pairs = Array.from({ length: 20 }, () => {
    const before = timelineNow();
    const us = unixNow();
    return { lengthNs: timelineNow() - before, ns: before, us };
  });
  const [{ ns, us }] = pairs.sort((a, b) => a.lengthNs - b.lengthNs);
  const [row] = interrupted(addon as Required<FastCall>, ns);
  expect(Math.abs(row.startUs - us)).toBeLessThan(5000);
  expect(row.endUs - row.startUs).toBeCloseTo(2000, 0);
});
