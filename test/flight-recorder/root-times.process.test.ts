// With `rootTimes` the roots that are reported say where their time went, and add up to their duration; without it nothing is
// asked of the timeline and no row is touched.
import { afterEach, describe, expect, test } from 'vitest';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { monitorEventLoop } from '../../src/flight-recorder/index.js';
import { FlightRecorder } from '../../src/flight-recorder/recorder.js';
import { type FlightRecorderOptions, resolveRecorder } from '../../src/flight-recorder/recorder-options.js';
import { type TimelinePart, type TimelineRow, unixNow } from '../../src/flight-recorder/timeline/timeline-row.js';
import { Collector, type CollectorOptions, LocalCollector, LocalSpan, Span, type SpanRecord } from '../../src/index.js';

const TIMES = ['own', 'gc', 'others', 'untraced', 'short', 'waiting', 'unknown'].map(
  (part) => `spanline.time.${part}_ns`,
);

const passTime = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

describe('over the timeline of this process', () => {
  const recorders: FlightRecorder[] = [];
  afterEach(() => {
    for (const recorder of recorders.splice(0)) recorder.stop();
  });

  const record = (
    options: FlightRecorderOptions,
    rows: TimelineRow[] = [],
    collectorOptions: CollectorOptions = {},
  ) => {
    const memory = new MemoryReporter();
    const collector = new Collector(collectorOptions);
    collector.setReporter(memory);
    const timeline = monitorEventLoop();
    const asked: (number | undefined)[] = [];
    // What the timeline has seen is planted: everything else is real.
    const planted = {
      rows(sinceUs?: number) {
        asked.push(sinceUs);
        return rows;
      },
      stop: () => timeline.stop(),
    };
    recorders.push(new FlightRecorder(collector, resolveRecorder(options), planted).start());
    return { memory, collector, asked };
  };

  const timesOf = ({ properties }: SpanRecord): number[] => TIMES.map((key) => properties[key] as number);
  const busyRow = (startUs: number, endUs: number, ...parts: TimelinePart[]): TimelineRow => {
    return { kind: 'busy', startUs, endUs, detail: '', parts };
  };

  test('own work is that of its local spans, mounted ones included, and the rest is waiting', async () => {
    const { memory, collector } = record({ rootTimes: true });
    const [, mounted] = LocalCollector.run(() => {
      const span = LocalSpan.start('mounted');
      passTime(1);
      span.end();
    });
    const span = Span.root('GET /cart', undefined, { collector });
    span.run(() => {
      const render = LocalSpan.start('render');
      passTime(2);
      // Inside of the other: counted once.
      LocalSpan.start('item').end();
      render.end();
    });
    span.pushChildSpans(mounted);
    span.addProperty('cart', 7);
    passTime(1);
    span.end();
    await collector.flush();
    const found = memory.find('GET /cart') as SpanRecord;
    const render = memory.find('render') as SpanRecord;
    // The mounted batch was made before the root began.
    expect(timesOf(found)).toEqual([render.durationNs, 0, 0, 0, 0, found.durationNs - render.durationNs, 0]);
    expect(found.properties.cart).toBe(7);
    expect(Object.keys(found.properties).filter((key) => key.startsWith('spanline.loop'))).toEqual([]);
    expect(Object.keys(render.properties)).toEqual([]);
  });

  test('who had the loop is named, with what it took of the root', async () => {
    const rows: TimelineRow[] = [];
    const { memory, collector, asked } = record({ rootTimes: true }, rows);
    const beforeUs = unixNow();
    const span = Span.root('GET /cart', undefined, { collector });
    const fromUs = unixNow();
    passTime(8);
    const at = (ms: number): number => fromUs + ms * 1000;
    const other = { traceId: 'b'.repeat(32), spanId: '2'.repeat(16), name: 'POST /import', frames: [] };
    const nobody = { traceId: '', spanId: '', name: '', frames: ['tick app.js:7', 'run app.js:1'] };
    const { traceId, spanId } = span.context as { traceId: string; spanId: string };
    const own = { traceId, spanId, name: 'GET /cart', frames: [] };
    const gone = { traceId, spanId: '9'.repeat(16), name: 'beside', frames: [] };
    rows.push(
      busyRow(
        at(0),
        at(7),
        { startUs: at(0), endUs: at(2), ...other },
        { startUs: at(2), endUs: at(3), ...nobody },
        { startUs: at(3), endUs: at(4), ...own },
        { startUs: at(4), endUs: at(5), ...gone },
      ),
      { kind: 'gc', startUs: at(1), endUs: at(1.5), detail: 'scavenge', parts: [] },
    );
    span.end();
    await collector.flush();
    const found = memory.find('GET /cart') as SpanRecord;
    const [ownNs, gc, others, untraced, short, waiting, unknown] = timesOf(found);
    // A double holds a quarter of a microsecond of Unix time.
    const near = (ms: number) => expect.closeTo(ms, 2);
    expect([ownNs, gc, others, untraced, unknown].map((ns) => ns / 1e6)).toEqual([1, 0.5, 1.5, 1, 3].map(near));
    expect(ownNs + gc + others + untraced + short + waiting + unknown).toBe(found.durationNs);
    expect(found.properties).toMatchObject({
      'spanline.loop.owners': ['POST /import'],
      'spanline.loop.owner_trace_ids': ['b'.repeat(32)],
      'spanline.loop.owner_ns': [others],
      'spanline.loop.untraced': ['tick app.js:7'],
    });
    // Once for the whole report, and not for all that the timeline has.
    expect(asked).toHaveLength(1);
    expect(asked[0]).toBeGreaterThan(beforeUs - 1e6);
  });

  test('work in short turns is not waiting, of the part that the root has of them', async () => {
    const rows: TimelineRow[] = [];
    const { memory, collector } = record({ rootTimes: true }, rows);
    // The timeline is known of all of the row.
    passTime(4);
    const span = Span.root('GET /cart', undefined, { collector });
    const fromUs = unixNow();
    passTime(4);
    // Half of it before the root.
    rows.push({
      ...{ kind: 'turns', startUs: fromUs - 3000, endUs: fromUs + 3000, detail: '', parts: [] },
      idleUs: 1500,
    });
    span.end();
    await collector.flush();
    const found = memory.find('GET /cart') as SpanRecord;
    const [, , , , short, waiting] = timesOf(found);
    // The root began a little before.
    expect(short).toBeGreaterThanOrEqual(2_249_000);
    expect(short).toBeLessThanOrEqual(2_251_000 + 0.75 * (found.durationNs - 4e6));
    expect(short + waiting).toBe(found.durationNs);
  });

  test('a kept trace has them though the program has seen its records, in rows of its own', async () => {
    const seen: SpanRecord[] = [];
    const keep = ({ spans }: { readonly spans: readonly SpanRecord[] }) => {
      seen.push(spans[0]);
      return spans[0].name === 'kept';
    };
    const { memory, collector } = record({ rootTimes: true }, [], { keep });
    for (const name of ['gone', 'kept', 'gone', 'gone']) Span.root(name, undefined, { collector }).end();
    await collector.flush();
    expect(memory.spans.map(({ name }) => name)).toEqual(['kept']);
    const [found] = memory.spans;
    expect(timesOf(found)).toEqual([0, 0, 0, 0, 0, found.durationNs, 0]);
    expect(seen.map((one) => Object.keys(one.properties))).toEqual([[], [], [], []]);
  });

  test('what was reported in parts has no breakdown, and a late span has nothing', async () => {
    const { memory, collector } = record({ rootTimes: true }, [], { reportOpenTraces: true });
    const span = Span.root('long', undefined, { collector });
    Span.start('early', span).end();
    await collector.flush();
    span.end();
    await collector.flush();
    const whole = Span.root('whole', undefined, { collector });
    const late = Span.start('late', whole);
    whole.end();
    await collector.flush();
    late.end();
    await collector.flush();
    const withTimes = memory.spans.filter(({ properties }) => TIMES[0] in properties).map(({ name }) => name);
    expect(withTimes).toEqual(['whole']);
  });

  test('without the option nothing is asked of the timeline', async () => {
    const { memory, collector, asked } = record({});
    Span.root('plain', undefined, { collector }).end();
    await collector.flush();
    expect([asked, memory.find('plain')?.properties]).toEqual([[], {}]);
  });

  test('it needs the event-loop timeline', () => {
    expect(() => resolveRecorder({ rootTimes: true, timeline: false })).toThrow(
      /"flightRecorder.rootTimes" needs the event-loop timeline/,
    );
  });
});
