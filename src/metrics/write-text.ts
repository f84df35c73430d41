// Metrics as Prometheus reads them: OpenMetrics 1.0, or the older text format. Names, units and the resource are translated as OpenTelemetry's
// specification for Prometheus asks. Nothing of a program may break a line: what stands in quotes is escaped, and names have letters, digits and `_` alone.
import type { ArchivedProperties } from '../record/archived-span.js';
import type { Attribute } from './attribute-sets.js';
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

/** What stands in the braces. Keys that become one label have their values side by side. */
const labelsOf = (attributes: readonly (readonly [key: string, value: unknown])[]): string => {
  const labels = new Map<string, string>();
  for (const [key, value] of attributes) {
    const name = cleanName(key);
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

class TextWriter {
  readonly #format: TextFormat;
  readonly lines: string[] = [];

  constructor(format: TextFormat) {
    this.#format = format;
  }

  /** What is said of a family before its samples. Of a counter the older format has the name of its samples. */
  head(family: string, type: string, unit: string, help: string): void {
    const isOpen = this.#format === 'openmetrics';
    const name = type === 'counter' && !isOpen ? `${family}_total` : family;
    this.lines.push(`# TYPE ${name} ${type}`);
    if (isOpen && unit !== '') this.lines.push(`# UNIT ${name} ${unit}`);
    if (help !== '') this.lines.push(`# HELP ${name} ${escapeHelp(help, this.#format)}`);
  }

  resource(properties: ArchivedProperties): void {
    const labels = labelsOf(Object.entries(properties));
    if (this.#format === 'openmetrics') this.head('target', 'info', '', 'Target metadata');
    else this.head('target_info', 'gauge', '', 'Target metadata');
    this.lines.push(`target_info${braced(labels)} 1`);
  }

  metric({ instrument, startMs, points }: Metric): void {
    const family = familyOf(instrument);
    this.head(family, TYPES[instrument.kind], unitOf(instrument), instrument.description);
    for (const point of points) {
      const labels = labelsOf(point.attributes as readonly Attribute[]);
      if (instrument instanceof Histogram) this.#histogram(family, labels, instrument, point);
      else this.lines.push(`${family}${instrument.kind === 'counter' ? '_total' : ''}${braced(labels)} ${point.value}`);
      const hasStart = instrument.kind === 'counter' || instrument.kind === 'histogram';
      if (hasStart && this.#format === 'openmetrics')
        this.lines.push(`${family}_created${braced(labels)} ${seconds(startMs)}`);
    }
  }

  #histogram(family: string, labels: string, { boundaries }: Histogram, { value, buckets }: Point): void {
    let count = 0;
    buckets?.forEach((inBucket, i) => {
      count += inBucket;
      const boundary = boundaryText(boundaries[i] ?? Number.POSITIVE_INFINITY, this.#format);
      this.lines.push(`${family}_bucket${withLabel(labels, `le="${boundary}"`)} ${count}`);
    });
    this.lines.push(`${family}_sum${braced(labels)} ${value}`, `${family}_count${braced(labels)} ${count}`);
  }
}

/** `metrics` of one moment and of the start, in one text; differences have no place in it. */
export const writeText = (metrics: readonly Metric[], resource: ArchivedProperties, format: TextFormat): string => {
  const writer = new TextWriter(format);
  writer.resource(resource);
  for (const metric of metrics) writer.metric(metric);
  if (format === 'openmetrics') writer.lines.push('# EOF');
  return `${writer.lines.join('\n')}\n`;
};
