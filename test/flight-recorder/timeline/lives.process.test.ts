// The timeline begins and ends with who asks for it, and changes nothing of the end of a process. What chance has a part in: lives.full.test.ts.
import { describe, expect, test } from 'vitest';
import { monitorEventLoop, type TimelineRow } from '../../../src/flight-recorder/index.js';
import { hasTimeline, timelineProgram } from './timeline-program.js';

const { runs, result } = timelineProgram('lives');

describe.runIf(hasTimeline)('the timeline by the addon', () => {
  test('a stretch that goes on is the last row, and one row when it has ended', async () => {
    const { during, after } = await result<{ during: TimelineRow; after: TimelineRow[] }>('open');
    expect(during.endUs - during.startUs).toBeGreaterThan(149_900);
    expect(during.parts.some(({ name }) => name === 'open')).toBe(true);
    const same = after.filter(({ startUs }) => Math.abs(startUs - during.startUs) < 1000);
    expect(same.length).toBe(1);
    expect(same[0].endUs).toBeGreaterThanOrEqual(during.endUs - 1000);
  });

  test('it is one for who starts it twice, ends with the last of them, and starts again', async () => {
    expect(await result('twice')).toEqual({ source: 'native', stopped: 'none', found: true });
  });

  test('a worker has none', async () => {
    expect(await result('worker')).toEqual({ found: { source: 'none', rows: 0 }, main: 'native' });
  });

  test('a process that has nothing to do ends', async () => {
    expect(await result('end')).toBe('end');
  });

  test('an exception that nobody catches ends the process as ever', async () => {
    const { code, signal, stderr } = await runs('throw');
    expect([code, signal]).toEqual([1, null]);
    expect(stderr).toContain('thrown on purpose');
  });
});

test('a wrong option is named', () => {
  expect(() => monitorEventLoop({ busyMs: 0 })).toThrow(/"busyMs".* 0/);
  expect(() => monitorEventLoop({ maxRows: 1.5 })).toThrow(/"maxRows".* 1\.5/);
  expect(() => monitorEventLoop({ maxRow: 1 } as never)).toThrow(/maxRow/);
});
