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
const HistogramPoint = {
  start: tag(2, FIXED64),
  time: tag(3, FIXED64),
  count: tag(4, FIXED64),
  sum: tag(5, FIXED64),
  bucketCounts: tag(6, BYTES),
  boundaries: tag(7, BYTES),
  attributes: tag(9, BYTES),
};
const DELTA = 1;
const CUMULATIVE = 2;

/** More than the fixed fields of a point together. */
const FIXED_ROOM = 64;

/** A message in a field; the length of most takes two bytes. */
const within = (writer: ByteWriter, fieldTag: number, write: () => void): void => {
  writer.reserve(FIXED_ROOM);
  writer.bytes[writer.length++] = fieldTag;
  const start = beginMessage(writer, 2);
  write();
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

const writeTimes = (writer: ByteWriter, startMs: number, timeMs: number): void => {
  writer.reserve(FIXED_ROOM);
  writeTime(writer, NumberPoint.start, startMs);
  writeTime(writer, NumberPoint.time, timeMs);
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
  for (const [key, one] of attributes) writeKeyValue(writer, HistogramPoint.attributes, key, one);
};

const DATA: Readonly<Record<Instrument['kind'], number>> = {
  counter: MetricMessage.sum,
  'up-down': MetricMessage.sum,
  gauge: MetricMessage.gauge,
  histogram: MetricMessage.histogram,
};

const writeMetric = (writer: ByteWriter, { instrument, isDelta, startMs, points }: Metric, timeMs: number): void => {
  const { name, description, unit, kind } = instrument;
  writeString(writer, MetricMessage.name, name);
  if (description !== '') writeString(writer, MetricMessage.description, description);
  if (unit !== '') writeString(writer, MetricMessage.unit, unit);
  within(writer, DATA[kind], () => {
    for (const point of points) {
      within(writer, Data.points, () => {
        writeTimes(writer, startMs, timeMs);
        if (instrument instanceof Histogram) writeHistogramPoint(writer, instrument, point);
        else writeNumberPoint(writer, instrument, point);
      });
    }
    if (kind === 'gauge') return;
    writer.reserve(FIXED_ROOM);
    writer.bytes[writer.length++] = Data.temporality;
    writer.bytes[writer.length++] = isDelta ? DELTA : CUMULATIVE;
    if (kind !== 'counter') return;
    writer.bytes[writer.length++] = Data.isMonotonic;
    writer.bytes[writer.length++] = 1;
  });
};

/** The request for `metrics`, which were read at `timeMs`. */
export const writeOtlp = (
  metrics: readonly Metric[],
  { properties, schemaUrl }: ArchivedResource,
  timeMs: number,
): Buffer => {
  const writer = new ByteWriter();
  within(writer, Request.resourceMetrics, () => {
    within(writer, ResourceMetrics.resource, () => writeOwnProperties(writer, TAGS.resource.attributes, properties));
    within(writer, ResourceMetrics.scopeMetrics, () => {
      within(writer, ScopeMetrics.scope, () => {
        writeString(writer, TAGS.scope.name, LIBRARY_NAME);
        writeString(writer, TAGS.scope.version, LIBRARY_VERSION);
      });
      for (const metric of metrics) within(writer, ScopeMetrics.metrics, () => writeMetric(writer, metric, timeMs));
    });
    if (schemaUrl) writeString(writer, ResourceMetrics.schemaUrl, schemaUrl);
  });
  return writer.copy();
};
