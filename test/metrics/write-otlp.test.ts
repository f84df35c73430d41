// OTLP's metrics in protobuf: read by protobufjs they are what OpenTelemetry's own serializer makes of the same numbers.
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';
import { expect, onTestFinished, test, vi } from 'vitest';
import { timers } from '../../src/base/calls/timers.js';
import { LIBRARY_VERSION } from '../../src/formats/library.js';
import { ticks } from '../../src/metrics/exemplars.js';
import { Counter, Gauge, Histogram, UpDownCounter } from '../../src/metrics/instruments.js';
import { Instruments, Reader, type Temporality } from '../../src/metrics/reader.js';
import { writeOtlp } from '../../src/metrics/write-otlp.js';
import { otlpMessages } from '../support/otlp-messages.js';

const Request = otlpMessages.lookupType('MetricsRequest');
const decoded = (body: Uint8Array): unknown => Request.toObject(Request.decode(body), { longs: String });

const START_MS = 1_700_000_000_123;
const RESOURCE = { 'service.name': 'shop', 'process.pid': 4_294_967_296, ratio: 0.5, isTest: true };
const LONG = 'ü'.repeat(200);
const BOUNDARIES = [0.005, 0.1, 2.5];

/** Everything that a writer can meet, recorded with a clock of the test's. */
const recorded = (temporality: Temporality): { readonly bytes: Buffer; readonly endMs: number } => {
  const clock = vi.spyOn(timers, 'wallMs').mockReturnValue(START_MS);
  onTestFinished(() => clock.mockRestore());
  const instruments = new Instruments();
  const make = (name: string, isWhole: boolean) => ({
    name,
    unit: 's',
    description: `of ${name}`,
    keys: ['k'],
    isWhole,
  });
  const counter = instruments.add(new Counter(make('counter', true)));
  const active = instruments.add(new UpDownCounter(make('active', true)));
  const gauge = instruments.add(new Gauge({ name: 'gauge', unit: '', description: '' }));
  const histogram = instruments.add(new Histogram({ ...make('histogram', false), boundaries: BOUNDARIES }));
  instruments.add(new Counter(make('never', false)));
  counter.add(2 ** 40 + 3, [LONG]);
  counter.add(1, [undefined]);
  active.set(-5, [true]);
  active.set(0, [7]);
  gauge.set(-0.25);
  for (const value of [0.001, 0.1, 2, 99]) histogram.record(value, ['x']);
  const endMs = START_MS + 60_001;
  clock.mockReturnValue(endMs);
  const reader = new Reader(instruments, temporality);
  const metrics = reader.read();
  return { bytes: writeOtlp(metrics, { properties: RESOURCE }, reader.readMs), endMs };
};

const hrTime = (ms: number): [number, number] => [Math.floor(ms / 1000), (ms % 1000) * 1e6];

/** The same by OpenTelemetry's serializer. */
const official = (temporality: AggregationTemporality, endMs: number): unknown => {
  const times = { startTime: hrTime(START_MS), endTime: hrTime(endMs) };
  const descriptor = (name: string, valueType: number) => ({ name, unit: 's', description: `of ${name}`, valueType });
  const point = (attributes: object, value: unknown) => ({ ...times, attributes, value });
  const cumulative = AggregationTemporality.CUMULATIVE;
  const histogram = { buckets: { boundaries: BOUNDARIES, counts: [1, 1, 1, 1] }, count: 4, sum: 0.001 + 0.1 + 2 + 99 };
  const metrics = [
    {
      descriptor: descriptor('counter', 0),
      dataPointType: DataPointType.SUM,
      isMonotonic: true,
      aggregationTemporality: temporality,
      dataPoints: [point({ k: LONG }, 2 ** 40 + 3), point({}, 1)],
    },
    {
      descriptor: descriptor('active', 0),
      dataPointType: DataPointType.SUM,
      isMonotonic: false,
      aggregationTemporality: cumulative,
      dataPoints: [point({ k: true }, -5), point({ k: 7 }, 0)],
    },
    {
      descriptor: { name: 'gauge', unit: '', description: '', valueType: 1 },
      dataPointType: DataPointType.GAUGE,
      aggregationTemporality: cumulative,
      dataPoints: [point({}, -0.25)],
    },
    {
      descriptor: descriptor('histogram', 1),
      dataPointType: DataPointType.HISTOGRAM,
      aggregationTemporality: temporality,
      dataPoints: [point({ k: 'x' }, histogram)],
    },
  ];
  const scope = { name: 'spanline', version: LIBRARY_VERSION };
  const all = { resource: { attributes: RESOURCE }, scopeMetrics: [{ scope, metrics }] };
  return decoded(ProtobufMetricsSerializer.serializeRequest(all as never) as Uint8Array);
};

/** Without what a serializer may leave out or write, as proto3 allows. */
const plain = (message: unknown): unknown =>
  JSON.parse(
    JSON.stringify(message, (key, value: unknown) =>
      key === 'droppedAttributesCount' ||
      value === '' ||
      value === false ||
      value === undefined ||
      (Array.isArray(value) && value.length === 0)
        ? undefined
        : value,
    ),
  );

test.each([
  ['cumulative', AggregationTemporality.CUMULATIVE],
  ['delta', AggregationTemporality.DELTA],
] as const)('%s sums are what the official serializer writes', (temporality, number) => {
  const { bytes, endMs } = recorded(temporality);
  const ours = decoded(bytes);
  // The sets without a record are no points: a counter that nobody has used is left out.
  expect(plain(ours)).toEqual(plain(official(number, endMs)));
});

test('an exemplar has the value, the time and the ids of its span', () => {
  const clock = vi.spyOn(timers, 'wallMs').mockReturnValue(START_MS);
  const still = vi.spyOn(ticks, 'now').mockReturnValue(1);
  onTestFinished(() => {
    clock.mockRestore();
    still.mockRestore();
  });
  const instruments = new Instruments();
  const sizes = instruments.add(
    new Histogram({ name: 'sizes', unit: 's', description: '', boundaries: [1, 5], hasExemplars: true }),
  );
  const span = {
    writeSampledIds(words: Int32Array, at: number): boolean {
      words.set([1, 2, 3, -1, 4, -2], at);
      return true;
    },
  };
  sizes.record(0.5, [], span);
  sizes.record(3, []);
  sizes.record(7.25, [], span);
  const bytes = writeOtlp(new Reader(instruments, 'cumulative').read(), { properties: RESOURCE }, START_MS);
  const request = Request.toObject(Request.decode(bytes), { longs: String, bytes: String });
  const [point] = request.resourceMetrics[0].scopeMetrics[0].metrics[0].histogram.dataPoints;
  const ids = {
    traceId: Buffer.from('000000010000000200000003ffffffff', 'hex').toString('base64'),
    spanId: Buffer.from('00000004fffffffe', 'hex').toString('base64'),
  };
  expect(point.bucketCounts).toEqual(['1', '1', '1']);
  expect(point.exemplars).toEqual([
    { timeUnixNano: '1700000000123000000', asDouble: 0.5, ...ids },
    { timeUnixNano: '1700000000123000000', asDouble: 7.25, ...ids },
  ]);
});
