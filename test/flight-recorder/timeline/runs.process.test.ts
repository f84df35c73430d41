// The first stretch of `run` is told with its span, without a look: work too short for a busy stretch is its span's own, and nobody waited for it.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import {
  BreakdownIndex,
  monitorEventLoop,
  type TimeBreakdown,
  type Timeline,
  type TimelineRow,
  timeBreakdown,
} from '../../../src/flight-recorder/index.js';
import { RunRing } from '../../../src/flight-recorder/timeline/native-rings.js';
import { Span, setReporter } from '../../../src/index.js';
import { SpanQueue } from '../../../src/local-span/local-span.js';

const spin = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

let timeline: Timeline;
afterEach(() => timeline?.stop());

const runsOf = (rows: readonly TimelineRow[], span: Span): TimelineRow[] =>
  rows.filter(({ kind, parts }) => kind === 'run' && parts[0].spanId === span.context?.spanId);

/** A collection may come in between. */
const workOf = (breakdown: TimeBreakdown | undefined): number => (breakdown?.ownUs ?? 0) + (breakdown?.gcUs ?? 0);

test('a run of some milliseconds is a row, up to its first await', async () => {
  setReporter({ name: 'nowhere', report: () => {} });
  timeline = monitorEventLoop({ busyMs: 1000 });
  const root = Span.root('GET /cart');
  const fromUs = Date.now() * 1000;
  await root.run(async () => {
    spin(3);
    await sleep(20);
    spin(3);
  });
  const toUs = Date.now() * 1000;
  const short = Span.start('short', root);
  const before = performance.now();
  short.run(() => {});
  // Unless the system took the processor from it.
  const isShort = performance.now() - before < 1;
  const rows = timeline.rows();
  const [run, ...more] = runsOf(rows, root);
  expect(more).toEqual([]);
  if (isShort) expect(runsOf(rows, short)).toEqual([]);
  const { startUs, endUs, parts } = run;
  expect(parts).toEqual([
    { startUs, endUs, traceId: root.context?.traceId, spanId: root.context?.spanId, name: 'GET /cart', frames: [] },
  ]);
  expect(endUs - startUs).toBeGreaterThanOrEqual(2990);
  // Not with the work behind the await: 3 ms, of which the wall clock, in whole milliseconds, may show one less. The sleep is none of them: a timer
  // counts from the beginning of its turn of the event loop, and may be due at once.
  expect(endUs).toBeLessThan(toUs - 2000);
  const span = { ...parts[0], parentSpanId: '', startUs: fromUs, endUs: toUs, isSync: false };
  const waited = { ...span, traceId: 'b'.repeat(32), name: 'GET /health' };
  const index = new BreakdownIndex([span, waited], timeline.rows(), [{ fromUs: 0, toUs }]);
  // Anything else that ran meanwhile may be known too.
  expect(workOf(timeBreakdown(index, span))).toBeGreaterThanOrEqual(2990);
  expect(timeBreakdown(index, waited)?.others[0]).toMatchObject({ name: 'GET /cart' });
  root.end();
});

test('a run that throws is there; what is within another belongs to itself', () => {
  timeline = monitorEventLoop({ busyMs: 1000 });
  const root = Span.root('outer');
  const inner = Span.start('inner', root);
  const work = () =>
    root.run(() => {
      spin(2);
      inner.run(() => {
        spin(2);
        throw new Error('on the way out');
      });
    });
  expect(work).toThrow('on the way out');
  const rows = timeline.rows();
  const [[outer], [within]] = [runsOf(rows, root), runsOf(rows, inner)];
  expect(outer.startUs).toBeLessThan(within.startUs);
  const spans = [outer, within].map(({ parts, startUs, endUs }, i) => ({
    ...parts[0],
    ...{ startUs, endUs, isSync: false, parentSpanId: i === 0 ? '' : outer.parts[0].spanId },
  }));
  const index = new BreakdownIndex(spans, rows, []);
  const [all, own] = spans.map((span) => workOf(timeBreakdown(index, span)));
  expect(own).toBeGreaterThanOrEqual(1990);
  expect(all).toBeGreaterThan(own + 1990);
  inner.end();
  root.end();
});

test('nothing is taken when no timeline is on', () => {
  const root = Span.root('alone');
  root.run(() => spin(2));
  timeline = monitorEventLoop();
  expect(runsOf(timeline.rows(), root)).toEqual([]);
  root.end();
});

test('the newest are kept, and it is known since when', () => {
  const ring = new RunRing(2);
  const root = Span.root('root');
  const queue = new SpanQueue(root, true);
  for (const ns of [1e6, 2e6]) ring.add(queue, ns);
  expect([ring.count, ring.dropped, ring.keptFromUs]).toEqual([2, 0, Number.NEGATIVE_INFINITY]);
  const [, first] = ring.rows(0);
  ring.add(queue, 3e6);
  expect([ring.count, ring.dropped, ring.keptFromUs]).toEqual([2, 1, first.endUs]);
  const lengths = ring.rows(0).map(({ startUs, endUs }) => Math.round((endUs - startUs) / 1000));
  expect(lengths).toEqual([3, 2]);
  expect(ring.rows(Number.POSITIVE_INFINITY)).toEqual([]);
  queue.close();
  root.cancel();
});
