// Where the time of a span went, as the page is told: the same parts and the same names of stacks as in a terminal.
import { expect, test } from 'vitest';
import type { TimeBreakdown } from '../../../src/flight-recorder/index.js';
import { breakdownAnswer, timelineAnswer } from '../src/api/trace/trace-routes.js';

const SHOWN = ['dirname node:path:1280', 'watched spanline:instrument.js:422', 'load app.js:7', 'main app.js:1'];

const BREAKDOWN: TimeBreakdown = {
  ...{ durationUs: 24_000, ownUs: 0, gcUs: 0, othersUs: 0, others: [], untracedUs: 1000, unknownUs: 0 },
  untracedFrames: [{ frames: SHOWN, us: 1000 }],
  ...{ shortUs: 22_000, waitingUs: 1000, poolUs: 0, poolWaits: [] },
};

test('short work is a part of its own', () => {
  const { text, parts } = breakdownAnswer(3, BREAKDOWN);
  expect(text).toBe('24.0 ms = loop 1.0 (untraced 1.0) + short work 22.0 + waiting 1.0');
  expect(parts).toEqual([
    { kind: 'untraced', us: 1000 },
    { kind: 'short', us: 22_000 },
    { kind: 'waiting', us: 1000 },
  ]);
});

test('functions of Node and of this library give no name', () => {
  expect(breakdownAnswer(3, BREAKDOWN).frames).toEqual([{ frames: ['load app.js:7', 'main app.js:1'], us: 1000 }]);
  const nobody = { startUs: 10, endUs: 20, traceId: '', spanId: '', name: '', frames: SHOWN };
  const busy = { kind: 'busy', startUs: 10, endUs: 20, detail: '', parts: [nobody] } as const;
  const [stretch] = timelineAnswer('{}', [busy], 0).stretches;
  expect(stretch.holders).toEqual([{ name: 'load app.js:7', traceId: '', us: 10 }]);
});

test('short turns and runs are not drawn: they are many, and in the spans', () => {
  const turns = { kind: 'turns', startUs: 10, endUs: 20, detail: '', parts: [], idleUs: 1 } as const;
  expect(timelineAnswer('{}', [turns], 0)).toMatchObject({ stretches: [], leftOut: 0 });
});
