// Metrics as Prometheus reads them: OpenMetrics 1.0, or the older text format. Names, units and the resource are translated as OpenTelemetry's
// specification for Prometheus asks. Nothing of a program may break a line: what stands in quotes is escaped, and names have letters, digits and `_` alone.
import { getOrMake } from '../base/maps/maps.js';
import type { ArchivedProperties } from '../record/archived-span.js';
import type { Exemplar } from './exemplars.js';
import { Histogram, type Instrument, type InstrumentKind } from './instruments.js';
import type { Metric, Point } from './reader.js';

/** OpenMetrics has units, start times and an end; the older format has not. */
export type TextFormat = 'openmetrics' | 'prometheus';

export const CONTENT_TYPES: Readonly<Record<TextFormat, string>> = {
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
};

const UNITS: Readonly<Record<string, string>> = {
  s: 'seconds',
  ms: 'milliseconds',
  us: 'microseconds',
  ns: 'nanoseconds',
  By: 'bytes',
};

const TYPES: Readonly<Record<InstrumentKind, string>> = {
  counter: 'counter',
  'up-down': 'gauge',
  gauge: 'gauge',
  histogram: 'histogram',
};

const cleanName = (name: string): string => {
  const clean = name.replace(/[^a-zA-Z0-9_]+/g, '_');
  return /^\d/.test(clean) ? `_${clean}` : clean;
};

/** A unit in braces is a note, and what has no unit but is a share of something is a ratio. */
const unitOf = ({ unit, kind }: Instrument): string => {
  if (unit === '1') return kind === 'gauge' ? 'ratio' : '';
  return Object.hasOwn(UNITS, unit) ? UNITS[unit] : '';
};

/** The name of the family, which of a counter is without `_total`. */
const familyOf = (instrument: Instrument): string => {
  const name = cleanName(instrument.name).replace(/_total$/, '');
  const unit = unitOf(instrument);
  return unit === '' || name.endsWith(`_${unit}`) ? name : `${name}_${unit}`;
};

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

const escapeLabel = (text: string): string => text.replace(/[\\"\n]/g, (one) => ESCAPES[one]);

const escapeHelp = (text: string, format: TextFormat): string =>
  format === 'openmetrics' ? escapeLabel(text) : text.replace(/[\\\n]/g, (one) => ESCAPES[one]);

/** By key. These are of instruments and of the resource: few. */
const labelNames = new Map<string, string>();

/** What stands in the braces. Keys that become one label have their values side by side. */
const labelsOf = (attributes: readonly (readonly [key: string, value: unknown])[]): string => {
  const labels = new Map<string, string>();
  for (const [key, value] of attributes) {
    const name = getOrMake(labelNames, key, cleanName);
    const before = labels.get(name);
    labels.set(name, before === undefined ? String(value) : `${before};${String(value)}`);
  }
  return [...labels].map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',');
};

const braced = (labels: string): string => (labels === '' ? '' : `{${labels}}`);

const withLabel = (labels: string, label: string): string => `{${labels === '' ? '' : `${labels},`}${label}}`;

/** OpenMetrics has boundaries as floating-point numbers: `1.0`. */
const boundaryText = (boundary: number, format: TextFormat): string => {
  if (boundary === Number.POSITIVE_INFINITY) return '+Inf';
  return format === 'openmetrics' && Number.isInteger(boundary) ? `${boundary}.0` : String(boundary);
};

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

const exemplarText = (exemplar: Exemplar | undefined): string => {
  if (exemplar === undefined) return '';
  const { traceId, spanId, value, timeMs } = exemplar;
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${value} ${seconds(timeMs)}`;
};

/** What is said of a family before its samples. Of a counter the older format has the name of its samples. */
const headText = (format: TextFormat, family: string, type: string, unit: string, help: string): string => {
  const isOpen = format === 'openmetrics';
  const name = type === 'counter' && !isOpen ? `${family}_total` : family;
  const unitLine = isOpen && unit !== '' ? `# UNIT ${name} ${unit}\n` : '';
  const helpLine = help === '' ? '' : `# HELP ${name} ${escapeHelp(help, format)}\n`;
  return `# TYPE ${name} ${type}\n${unitLine}${helpLine}`;
};

const resourceText = (format: TextFormat, properties: ArchivedProperties): string => {
  const [family, type] = format === 'openmetrics' ? ['target', 'info'] : ['target_info', 'gauge'];
  const labels = labelsOf(Object.entries(properties));
  return `${headText(format, family, type, '', 'Target metadata')}target_info${braced(labels)} 1\n`;
};

const histogramText = (
  format: TextFormat,
  family: string,
  labels: string,
  { boundaries }: Histogram,
  point: Point,
): string => {
  let count = 0;
  let text = '';
  point.buckets?.forEach((inBucket, i) => {
    count += inBucket;
    const boundary = boundaryText(boundaries[i] ?? Number.POSITIVE_INFINITY, format);
    // The older format has no place for one.
    const exemplar = format === 'openmetrics' ? exemplarText(point.exemplarOf(i)) : '';
    text += `${family}_bucket${withLabel(labels, `le="${boundary}"`)} ${count}${exemplar}\n`;
  });
  return `${text}${family}_sum${braced(labels)} ${point.value}\n${family}_count${braced(labels)} ${count}\n`;
};

/** The head, then the lines of each point. */
const metricTexts = function* (format: TextFormat, { instrument, startMs, points }: Metric): Generator<string> {
  const { kind, description } = instrument;
  const family = familyOf(instrument);
  const hasStart = format === 'openmetrics' && (kind === 'counter' || kind === 'histogram');
  yield headText(format, family, TYPES[kind], unitOf(instrument), description);
  for (const point of points) {
    const labels = labelsOf(point.attributes);
    const samples =
      instrument instanceof Histogram
        ? histogramText(format, family, labels, instrument, point)
        : `${family}${kind === 'counter' ? '_total' : ''}${braced(labels)} ${point.value}\n`;
    yield hasStart ? `${samples}${family}_created${braced(labels)} ${seconds(startMs)}\n` : samples;
  }
};

/** `metrics` since the start, in pieces of whole lines, a set of an instrument each; differences have no place in it. */
export const textPieces = function* (
  metrics: readonly Metric[],
  resource: ArchivedProperties,
  format: TextFormat,
): Generator<string> {
  yield resourceText(format, resource);
  for (const metric of metrics) yield* metricTexts(format, metric);
  if (format === 'openmetrics') yield '# EOF\n';
};
