// Durations of the program's own spans that it wants measured, by their names and by properties that it has chosen. It sees spans that are recorded and no
// others, so its name says so. Runs as a span ends: nothing here may throw or call what a user wrote.
import { nsPerTick } from '../clock/index.js';
import { state } from '../context/process-state.js';
import type { EndedSpan, PropertyValue, SpanMeasures, SpanOwner } from '../rows/property.js';
import { SPAN_KEYS, type SpanMetricState, spanMetricState } from '../span/span-metrics.js';
import type { AttributeValue } from './attribute-sets.js';
import type { MeasuredSpan } from './exemplars.js';
import { Histogram } from './instruments.js';
import type { Instruments } from './reader.js';

/** Seconds. Spans are of a microsecond as of a minute. */
const BOUNDARIES = [
  0.000001, 0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
];

/** The name says that spans which a sampler leaves out are not among them. */
export const SPAN_DURATION = 'spanline.recorded_span.duration';

const ERROR = 'error.type';
const OTHER = '_OTHER';

/** The last value of a key; in a list the last one wins. */
const valueIn = (list: EndedSpan['propertyList'], key: string): PropertyValue | undefined => {
  if (list === null) return undefined;
  for (let i = list.length - 2; i >= 0; i -= 2) if (list[i] === key) return list[i + 1];
  return undefined;
};

/** Attributes of metrics are single values. */
const attributeOf = (value: PropertyValue | undefined): AttributeValue => {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  // Copied when it was given: nothing of the program's is called. One that is not permitted is null.
  return value === undefined || value === null ? undefined : String(value);
};

const errorOf = ({ propertyList, details }: EndedSpan, isFailed: boolean): AttributeValue => {
  const own = attributeOf(valueIn(propertyList, ERROR));
  if (own !== undefined || !isFailed) return own;
  const thrown = details?.events?.findLast(({ name }) => name === 'exception');
  return attributeOf(valueIn(thrown?.properties ?? null, 'exception.type')) ?? OTHER;
};

export class SpanDurations implements SpanMeasures, MeasuredSpan {
  /** How often anything was recorded: whether there is anything new. */
  records = 0;
  readonly #wanted: SpanMetricState['wanted'];
  readonly #durations: Histogram;
  // Filled anew by each record, by the number of keys.
  readonly #sets: AttributeValue[][] = [];
  // That which ends now.
  #span: EndedSpan | undefined;
  #owner: SpanOwner | undefined;

  constructor(instruments: Instruments, wanted: SpanMetricState['wanted'], hasExemplars: boolean) {
    this.#wanted = wanted;
    this.#durations = instruments.add(
      new Histogram({
        name: SPAN_DURATION,
        unit: 's',
        description: 'Duration of recorded spans; those that sampling leaves out are not counted.',
        keys: ([name]) => [...SPAN_KEYS, ...(wanted.get(name as string) ?? [])],
        boundaries: BOUNDARIES,
        hasExemplars,
      }),
    );
  }

  ended(span: EndedSpan, owner: SpanOwner, endTicks: number, isFailed: boolean): void {
    const keys = this.#wanted.get(span.name);
    if (keys === undefined || owner.isDiscarded) return;
    this.#sets[keys.length] ??= new Array(SPAN_KEYS.length + keys.length).fill(undefined);
    const set = this.#sets[keys.length];
    set[0] = span.name;
    set[1] = errorOf(span, isFailed);
    for (let i = 0; i < keys.length; i++) set[SPAN_KEYS.length + i] = attributeOf(valueIn(span.propertyList, keys[i]));
    this.records++;
    this.#span = span;
    this.#owner = owner;
    this.#durations.record(Math.max(0, ((endTicks - span.begin) * nsPerTick()) / 1e9), set, this);
    // A handle that the program has dropped must not live on here.
    this.#span = undefined;
    this.#owner = undefined;
  }

  writeSampledIds(words: Int32Array, at: number): boolean {
    const [span, owner] = [this.#span, this.#owner];
    if (span === undefined || owner?.writeSampledIds?.(words, at) !== true) return false;
    // Of a local span the trace is that of the span around it.
    words[at + 4] = span.idHi;
    words[at + 5] = span.idLo;
    return true;
  }
}

/** From now on spans are measured which the program wants, or will want. */
export const measureSpans = (instruments: Instruments, hasExemplars: boolean): SpanDurations => {
  const metrics = spanMetricState();
  const durations = new SpanDurations(instruments, metrics.wanted, hasExemplars);
  metrics.begin = () => {
    state.spanMeasures = durations;
  };
  if (metrics.wanted.size > 0) metrics.begin();
  return durations;
};
