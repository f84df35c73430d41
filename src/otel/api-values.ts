// What @opentelemetry/api has at run time, as far as this module needs it, from the specification: so that one recorder serves every copy of the
// API in a process, of whatever version, and needs none. All copies of version 1 find these objects by their methods and by the keys of contexts,
// which are symbols of the whole process. Must import types of the API alone.
import type {
  Baggage,
  BaggageEntry,
  BaggageEntryMetadata,
  Context,
  Span,
  SpanContext,
  TraceState,
} from '@opentelemetry/api';
import { attempt } from '../base/calls/attempt.js';
import { ListedState } from '../formats/sdk-shapes.js';
import { parseTraceState } from '../span/span-context.js';

/** By the numbers of `SpanKind` and `SpanStatusCode`. */
export const KIND_INTERNAL = 0;
export const STATUS_UNSET = 0;
export const STATUS_OK = 1;

export const SPAN_KEY = Symbol.for('OpenTelemetry Context Key SPAN');
const BAGGAGE_KEY = Symbol.for('OpenTelemetry Baggage Key');

/** Values by key. No context ever changes. */
class ValuesContext implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new ValuesContext(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): Context {
    const values = new Map(this.#values);
    values.delete(key);
    return new ValuesContext(values);
  }
}

/** The context that holds nothing: that of the program's copy of the API where it is known, for programs compare it. */
export const contexts: { root: Context } = { root: new ValuesContext(new Map()) };

const INVALID_TRACE = '0'.repeat(32);
const INVALID_SPAN = '0'.repeat(16);
const TRACE_ID = /^[0-9a-f]{32}$/i;
const SPAN_ID = /^[0-9a-f]{16}$/i;

/** The place of no span. */
export const INVALID_SPAN_CONTEXT: SpanContext = Object.freeze({
  traceId: INVALID_TRACE,
  spanId: INVALID_SPAN,
  traceFlags: 0,
});

export const isSpanContextValid = ({ traceId, spanId }: SpanContext): boolean =>
  typeof traceId === 'string' &&
  typeof spanId === 'string' &&
  TRACE_ID.test(traceId) &&
  SPAN_ID.test(spanId) &&
  traceId !== INVALID_TRACE &&
  spanId !== INVALID_SPAN;

/** A place, such as that of a remote parent, in the form of a span that records nothing. */
class PlaceSpan implements Span {
  readonly #place: SpanContext;

  constructor(place: SpanContext) {
    this.#place = place;
  }

  spanContext(): SpanContext {
    return this.#place;
  }
  setAttribute(): this {
    return this;
  }
  setAttributes(): this {
    return this;
  }
  addEvent(): this {
    return this;
  }
  addLink(): this {
    return this;
  }
  addLinks(): this {
    return this;
  }
  setStatus(): this {
    return this;
  }
  updateName(): this {
    return this;
  }
  recordException(): void {}
  end(): void {}
  isRecording(): boolean {
    return false;
  }
}

export const wrapSpanContext = (place: SpanContext): Span => new PlaceSpan(place);

export const getSpan = (context: Context): Span | undefined =>
  (context.getValue(SPAN_KEY) as Span | null | undefined) ?? undefined;
export const deleteSpan = (context: Context): Context => context.deleteValue(SPAN_KEY);
export const getSpanContext = (context: Context): SpanContext | undefined => getSpan(context)?.spanContext();
export const setSpanContext = (context: Context, place: SpanContext): Context =>
  context.setValue(SPAN_KEY, new PlaceSpan(place));

/** As it goes into a header: `undefined` for none, and for what is not one. */
export const stateText = (state: TraceState | undefined): string | undefined => {
  const text: unknown = attempt(() => state?.serialize());
  return typeof text === 'string' ? text : undefined;
};

/** Of a header or a part of one. A list that breaks the format is an empty one. */
export const createTraceState = (text: string): TraceState => new ListedState(parseTraceState(text));

/** Entries by name. No baggage ever changes. */
class EntriesBaggage implements Baggage {
  readonly #entries: ReadonlyMap<string, BaggageEntry>;

  constructor(entries: ReadonlyMap<string, BaggageEntry>) {
    this.#entries = entries;
  }

  getEntry(key: string): BaggageEntry | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : { ...entry };
  }

  getAllEntries(): [string, BaggageEntry][] {
    return [...this.#entries];
  }

  setEntry(key: string, entry: BaggageEntry): Baggage {
    return new EntriesBaggage(new Map(this.#entries).set(key, entry));
  }

  removeEntry(key: string): Baggage {
    return this.removeEntries(key);
  }

  removeEntries(...keys: string[]): Baggage {
    const entries = new Map(this.#entries);
    for (const key of keys) entries.delete(key);
    return new EntriesBaggage(entries);
  }

  clear(): Baggage {
    return new EntriesBaggage(new Map());
  }
}

export const createBaggage = (entries: Readonly<Record<string, BaggageEntry>> = {}): Baggage =>
  new EntriesBaggage(new Map(Object.entries(entries)));
export const getBaggage = (context: Context): Baggage | undefined =>
  (context.getValue(BAGGAGE_KEY) as Baggage | null | undefined) ?? undefined;
export const setBaggage = (context: Context, baggage: Baggage): Context => context.setValue(BAGGAGE_KEY, baggage);

// The API has a symbol of its own in each copy, which nobody can find again.
const METADATA = Symbol('BaggageEntryMetadata');

export const baggageEntryMetadata = (text: string): BaggageEntryMetadata =>
  ({ __TYPE__: METADATA, toString: () => text }) as unknown as BaggageEntryMetadata;
