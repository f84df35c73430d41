// What Node and V8 say of themselves, by OpenTelemetry's conventions: delay and utilization of the event loop, garbage collections, the heap by its spaces.
// Read when an exporter reads, but for collections, which Node reports; it must not keep a process alive.
import {
  constants,
  type IntervalHistogram,
  monitorEventLoopDelay,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Gauge, Histogram, UpDownCounter } from './instruments.js';
import type { Instruments } from './reader.js';

/**
 * How often the event loop is looked at, in milliseconds. Each look is a timer that wakes the process: at 10, Node's default, they take 3.1 ms of CPU a second of
 * an idle one, at 50 0.8 ms, and percentiles of a quarter of a minute are the same.
 */
const RESOLUTION_MS = 50;
const RESOLUTION_NS = RESOLUTION_MS * 1e6;
const GC_BOUNDARIES = [0.01, 0.1, 1, 10];

const GC_TYPES: Readonly<Record<number, string>> = {
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'major',
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'minor',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'incremental',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weakcb',
};

/** What Node measures is from look to look: how late a look was is what is above the time between two. */
const late = (ns: number): number => Math.max(0, ns - RESOLUTION_NS);

const DELAYS: readonly (readonly [name: string, what: string, read: (delay: IntervalHistogram) => number])[] = [
  ['min', 'minimum', ({ min }) => late(min)],
  ['max', 'maximum', ({ max }) => late(max)],
  ['mean', 'mean', ({ mean }) => late(mean)],
  ['stddev', 'standard deviation', ({ stddev }) => stddev],
  ['p50', '50 percentile', (delay) => late(delay.percentile(50))],
  ['p90', '90 percentile', (delay) => late(delay.percentile(90))],
  ['p99', '99 percentile', (delay) => late(delay.percentile(99))],
];

/** Of the time since the reading before: whoever reads begins it anew. */
const observeDelay = (instruments: Instruments, monitor: typeof monitorEventLoopDelay): (() => void) => {
  const delay = monitor({ resolution: RESOLUTION_MS });
  delay.enable();
  const gauges = DELAYS.map(([name, what, read]) => {
    const description = `Event loop ${what} delay.`;
    const gauge = new Gauge({ name: `nodejs.eventloop.delay.${name}`, unit: 's', description });
    return [instruments.add(gauge), read] as const;
  });
  instruments.onRead(() => {
    // Nothing was measured yet: the extremes are none.
    if (delay.count === 0) return;
    for (const [gauge, read] of gauges) gauge.set(read(delay) / 1e9);
    delay.reset();
  });
  return () => void delay.disable();
};

const observeUtilization = (instruments: Instruments): void => {
  const gauge = instruments.add(
    new Gauge({ name: 'nodejs.eventloop.utilization', unit: '1', description: 'Event loop utilization.' }),
  );
  let last = performance.eventLoopUtilization();
  instruments.onRead(() => {
    const next = performance.eventLoopUtilization();
    gauge.set(performance.eventLoopUtilization(next, last).utilization);
    last = next;
  });
};

const observeCollections = (instruments: Instruments): (() => void) => {
  const durations = instruments.add(
    new Histogram({
      name: 'v8js.gc.duration',
      unit: 's',
      description: 'Garbage collection duration.',
      keys: ['v8js.gc.type'],
      boundaries: GC_BOUNDARIES,
    }),
  );
  const record = (entries: readonly (PerformanceEntry & { readonly detail?: unknown })[]): void => {
    for (const { duration, detail } of entries) {
      const { kind } = detail as { readonly kind: number };
      durations.record(duration / 1000, [GC_TYPES[kind]]);
    }
  };
  const observer = new PerformanceObserver((list) => record(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  instruments.onRead(() => record(observer.takeRecords()));
  return () => observer.disconnect();
};

const SPACES = [
  ['v8js.memory.heap.space.size', 'Total heap memory size pre-allocated.', 'space_size'],
  ['v8js.memory.heap.used', 'Heap memory size allocated.', 'space_used_size'],
  ['v8js.memory.heap.space.available_size', 'Heap space available size.', 'space_available_size'],
  ['v8js.memory.heap.space.physical_size', 'Committed size of a heap space.', 'physical_space_size'],
] as const;

const observeHeap = (instruments: Instruments): void => {
  const sizes = SPACES.map(([name, description, field]) => {
    const sum = new UpDownCounter({ name, unit: 'By', description, keys: ['v8js.heap.space.name'], isWhole: true });
    return [instruments.add(sum), field] as const;
  });
  instruments.onRead(() => {
    for (const space of getHeapSpaceStatistics())
      for (const [sum, field] of sizes) sum.set(space[field], [space.space_name]);
  });
};

/**
 * Measures the process until what it gives is called.
 *
 * @param monitor Replaced in tests.
 */
export const measureRuntime = (instruments: Instruments, monitor = monitorEventLoopDelay): (() => void) => {
  const stopDelay = observeDelay(instruments, monitor);
  observeUtilization(instruments);
  const stopCollections = observeCollections(instruments);
  observeHeap(instruments);
  return () => {
    stopDelay();
    stopCollections();
  };
};
