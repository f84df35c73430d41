// OTLP's ExportMetricsServiceRequest in protobuf: one resource, one scope, the metrics of one moment. Fields that hold proto3's default are left out, but
// for a value of zero in a point, which a oneof has to name. Source: opentelemetry-proto, metrics/v1.
import {
  BYTES,
  ByteWriter,
  beginMessage,
  endMessage,
  FIXED64,
  tag,
  VARINT,
  writeString,
  writeUnixNanos,
  writeVarint32,
} from '../base/bytes/byte-writer.js';
import { LIBRARY_NAME, LIBRARY_VERSION } from '../formats/library.js';
import { TAGS } from '../formats/otlp/messages.js';
import { writeKeyValue, writeOwnProperties } from '../formats/otlp/write-protobuf-properties.js';
import type { ArchivedResource } from '../record/archived-span.js';
import type { Exemplar } from './exemplars.js';
import { Histogram, type Instrument } from './instruments.js';
import type { Metric, Point } from './reader.js';

const Request = { resourceMetrics: tag(1, BYTES) };
const ResourceMetrics = { resource: tag(1, BYTES), scopeMetrics: tag(2, BYTES), schemaUrl: tag(3, BYTES) };
const ScopeMetrics = { scope: tag(1, BYTES), metrics: tag(2, BYTES) };
const MetricMessage = {
  name: tag(1, BYTES),
  description: tag(2, BYTES),
  unit: tag(3, BYTES),
  gauge: tag(5, BYTES),
  sum: tag(7, BYTES),
  histogram: tag(9, BYTES),
};
/** Of a gauge, a sum and a histogram the points have the same number. */
const Data = { points: tag(1, BYTES), temporality: tag(2, VARINT), isMonotonic: tag(3, VARINT) };
const NumberPoint = {
  start: tag(2, FIXED64),
  time: tag(3, FIXED64),
  double: tag(4, FIXED64),
  integer: tag(6, FIXED64),
  attributes: tag(7, BYTES),
};
/** Its times have the numbers of those of a number. */
const HistogramPoint = {
  count: tag(4, FIXED64),
  sum: tag(5, FIXED64),
  bucketCounts: tag(6, BYTES),
  boundaries: tag(7, BYTES),
  exemplars: tag(8, BYTES),
  attributes: tag(9, BYTES),
};
const ExemplarMessage = {
  time: tag(2, FIXED64),
  double: tag(3, FIXED64),
  spanId: tag(4, BYTES),
  traceId: tag(5, BYTES),
};
const DELTA = 1;
const CUMULATIVE = 2;

/** More than the fixed fields of a point together. */
const FIXED_ROOM = 64;

/** Begins a message in a field, whose length takes two bytes mostly; gives where its content begins, for {@link end}. */
const begin = (writer: ByteWriter, fieldTag: number): number => {
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = fieldTag;
  return beginMessage(writer, 2);
};

const end = (writer: ByteWriter, start: number): void => {
  writer.reserve(FIXED_ROOM);
  endMessage(writer, start, 2);
};

const writeTime = (writer: ByteWriter, fieldTag: number, ms: number): void => {
  const sec = Math.floor(ms / 1000);
  writer.bytes[writer.length++] = fieldTag;
  writeUnixNanos(writer, sec, Math.round((ms - sec * 1000) * 1e6));
};

/** A whole number of 64 bits. */
const writeWhole = (writer: ByteWriter, value: number): void => {
  writer.data.setBigInt64(writer.length, BigInt(Math.round(value)), true);
  writer.length += 8;
};

const writeNumberPoint = (writer: ByteWriter, { isWhole }: Instrument, { attributes, value }: Point): void => {
  writer.bytes[writer.length++] = isWhole ? NumberPoint.integer : NumberPoint.double;
  if (isWhole) writeWhole(writer, value);
  else writer.double(value);
  for (const [key, one] of attributes) writeKeyValue(writer, NumberPoint.attributes, key, one);
};

const writePacked = (
  writer: ByteWriter,
  fieldTag: number,
  numbers: Float64Array,
  write: (value: number) => void,
): void => {
  writer.reserve(numbers.length * 8 + FIXED_ROOM);
  writer.bytes[writer.length++] = fieldTag;
  writeVarint32(writer, numbers.length * 8);
  for (const one of numbers) write(one);
};

const writeId = (writer: ByteWriter, fieldTag: number, id: string): void => {
  const bytes = id.length / 2;
  writer.bytes[writer.length++] = fieldTag;
  writer.bytes[writer.length++] = bytes;
  writer.bytes.write(id, writer.length, 'hex');
  writer.length += bytes;
};

const writeExemplar = (writer: ByteWriter, { value, timeMs, traceId, spanId }: Exemplar): void => {
  const start = begin(writer, HistogramPoint.exemplars);
  writer.reserve(FIXED_ROOM);
  writeTime(writer, ExemplarMessage.time, timeMs);
  writer.bytes[writer.length++] = ExemplarMessage.double;
  writer.double(value);
  writeId(writer, ExemplarMessage.spanId, spanId);
  writeId(writer, ExemplarMessage.traceId, traceId);
  end(writer, start);
};

const writeHistogramPoint = (writer: ByteWriter, { boundaries }: Histogram, point: Point): void => {
  const { attributes, value, buckets = new Float64Array() } = point;
  writer.bytes[writer.length++] = HistogramPoint.count;
  writeWhole(
    writer,
    buckets.reduce((sum, one) => sum + one, 0),
  );
  writer.bytes[writer.length++] = HistogramPoint.sum;
  writer.double(value);
  writePacked(writer, HistogramPoint.bucketCounts, buckets, (one) => writeWhole(writer, one));
  writePacked(writer, HistogramPoint.boundaries, boundaries, (one) => writer.double(one));
  buckets.forEach((_, i) => {
    const exemplar = point.exemplarOf(i);
    if (exemplar !== undefined) writeExemplar(writer, exemplar);
  });
  for (const [key, one] of attributes) writeKeyValue(writer, HistogramPoint.attributes, key, one);
};

const DATA: Readonly<Record<Instrument['kind'], number>> = {
  counter: MetricMessage.sum,
  'up-down': MetricMessage.sum,
  gauge: MetricMessage.gauge,
  histogram: MetricMessage.histogram,
};

const writePoint = (writer: ByteWriter, { instrument, startMs }: Metric, point: Point, timeMs: number): void => {
  const start = begin(writer, Data.points);
  writer.reserve(FIXED_ROOM);
  writeTime(writer, NumberPoint.start, startMs);
  writeTime(writer, NumberPoint.time, timeMs);
  if (instrument instanceof Histogram) writeHistogramPoint(writer, instrument, point);
  else writeNumberPoint(writer, instrument, point);
  end(writer, start);
};

/** One step a point; gives the bytes of each. */
const writeMetric = function* (writer: ByteWriter, metric: Metric, timeMs: number): Generator<number> {
  const { instrument, isDelta, points } = metric;
  const { name, description, unit, kind } = instrument;
  const start = begin(writer, ScopeMetrics.metrics);
  writeString(writer, MetricMessage.name, name);
  if (description !== '') writeString(writer, MetricMessage.description, description);
  if (unit !== '') writeString(writer, MetricMessage.unit, unit);
  const data = begin(writer, DATA[kind]);
  for (const point of points) {
    const { length } = writer;
    writePoint(writer, metric, point, timeMs);
    yield writer.length - length;
  }
  if (kind !== 'gauge') {
    writer.reserve(FIXED_ROOM);
    writer.bytes[writer.length++] = Data.temporality;
    writer.bytes[writer.length++] = isDelta ? DELTA : CUMULATIVE;
  }
  if (kind === 'counter') {
    writer.bytes[writer.length++] = Data.isMonotonic;
    writer.bytes[writer.length++] = 1;
  }
  end(writer, data);
  end(writer, start);
};

/**
 * Writes the request for `metrics`, which were read at `timeMs`, into an empty writer, a step a point: who cannot hold the event loop for all of them at
 * once makes pauses between. Gives the bytes of each step.
 */
export const otlpSteps = function* (
  writer: ByteWriter,
  metrics: readonly Metric[],
  { properties, schemaUrl }: ArchivedResource,
  timeMs: number,
): Generator<number> {
  const all = begin(writer, Request.resourceMetrics);
  const resource = begin(writer, ResourceMetrics.resource);
  writeOwnProperties(writer, TAGS.resource.attributes, properties);
  end(writer, resource);
  const scoped = begin(writer, ResourceMetrics.scopeMetrics);
  const scope = begin(writer, ScopeMetrics.scope);
  writeString(writer, TAGS.scope.name, LIBRARY_NAME);
  writeString(writer, TAGS.scope.version, LIBRARY_VERSION);
  end(writer, scope);
  for (const metric of metrics) yield* writeMetric(writer, metric, timeMs);
  end(writer, scoped);
  if (schemaUrl) writeString(writer, ResourceMetrics.schemaUrl, schemaUrl);
  end(writer, all);
};

/** The same at once. */
export const writeOtlp = (metrics: readonly Metric[], resource: ArchivedResource, timeMs: number): Buffer => {
  const writer = new ByteWriter();
  for (const _ of otlpSteps(writer, metrics, resource, timeMs));
  return writer.copy();
};
