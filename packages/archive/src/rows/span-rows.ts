// Spans that become a segment, or are read from a write-ahead file, as columns: ids and times are taken apart once, names, keys, resources and scopes
// are numbers, and everything after works on numbers. A row is a span as it came. Few spans have events, links or texts beside their name: these stay
// as they are. What no segment can keep is refused here, before anything is written, and takes no row. What a span takes in memory once decoded is
// estimated here: asking for its trace will cost that.

import { BadValueError, LimitError } from '@spanline/graph';
import {
  type ArchivedEvent,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedValue,
  NO_PROPERTIES,
  PropertyDraft,
  spanHex,
} from 'spanline/internal/record';
import { checkSpan } from '../check-span.js';
import { MAX_SPAN_BYTES } from '../segment/layout.js';
import { serviceOf, writeResource, writeScope } from '../segment/span-tables.js';
import { restored, storedProperties } from '../stored-extras.js';
import { isTime, KINDS, longer, parseId, STATUS_CODES, TIME_RULE, Times } from '../values/fields.js';
import { decodedBytes, typeOf } from '../values/values.js';
import { Interner, TraceNumbers } from './interner.js';

/** What a span without anything takes, and what a property, an event or a link adds at least. */
const SPAN_BYTES = 320;
const PROPERTY_BYTES = 32;
const EVENT_BYTES = 120;
const LINK_BYTES = 200;

const propertyBytes = (properties: ArchivedProperties): number => {
  let bytes = 0;
  for (const key of Object.keys(properties)) bytes += PROPERTY_BYTES + key.length + decodedBytes(properties[key]);
  return bytes;
};

/** Bytes of a span in memory; a segment counts the same while it is written. */
export const spanMemory = (span: ArchivedSpan): number => {
  const { name, traceState, status, events, links } = span;
  let bytes =
    SPAN_BYTES + name.length + traceState.length + status.message.length + propertyBytes(storedProperties(span));
  for (const event of events) bytes += EVENT_BYTES + event.name.length + propertyBytes(storedProperties(event));
  for (const link of links) bytes += LINK_BYTES + link.traceState.length + propertyBytes(storedProperties(link));
  return bytes;
};

const FIRST_ROWS = 256;
const NONE: readonly never[] = Object.freeze([]);

/** Texts that few spans have. */
interface RowTexts {
  readonly traceState: string;
  readonly message: string;
}

const idWords = new Uint32Array(4);

/** Spans as columns. */
export class SpanRows {
  count = 0;
  /** Each trace once, in the order of appearance. */
  readonly traces = new TraceNumbers();
  trace: Uint32Array<ArrayBuffer>;
  /** Two words each. */
  id: Uint32Array<ArrayBuffer>;
  parent: Uint32Array<ArrayBuffer>;
  hasParent: Uint8Array<ArrayBuffer>;
  readonly start: Times;
  readonly end: Times;
  /** Numbers of `KINDS` and `STATUS_CODES`. */
  kind: Uint8Array<ArrayBuffer>;
  status: Uint8Array<ArrayBuffer>;
  /** Numbers of `texts`, `resources` and `scopes`. */
  name: Uint32Array<ArrayBuffer>;
  resource: Uint32Array<ArrayBuffer>;
  scope: Uint32Array<ArrayBuffer>;
  /** Bytes each takes in memory once decoded, about. */
  bytes: Uint32Array<ArrayBuffer>;
  /** Names of spans and keys of properties. */
  readonly texts: string[] = [];
  readonly resources = new Interner<ArchivedResource>(writeResource);
  readonly scopes = new Interner<ArchivedScope>(writeScope);
  /** The first property of each row, and behind the last row where the next begins. Properties are as they are stored, with extras. */
  firstProperty: Uint32Array<ArrayBuffer>;
  keys: Uint32Array<ArrayBuffer>;
  types: Uint8Array<ArrayBuffer>;
  readonly values: ArchivedValue[] = [];
  readonly #textsByRow = new Map<number, RowTexts>();
  readonly #eventsByRow = new Map<number, readonly ArchivedEvent[]>();
  readonly #linksByRow = new Map<number, readonly ArchivedLink[]>();
  readonly #textNumbers = new Map<string, number>();
  #propertyBytes = 0;
  #lastTraceId = '';
  #lastTrace = 0;

  /** With room for so many rows from the start. */
  constructor(capacity = FIRST_ROWS) {
    this.trace = new Uint32Array(capacity);
    this.id = new Uint32Array(2 * capacity);
    this.parent = new Uint32Array(2 * capacity);
    this.hasParent = new Uint8Array(capacity);
    this.start = new Times(capacity);
    this.end = new Times(capacity);
    this.kind = new Uint8Array(capacity);
    this.status = new Uint8Array(capacity);
    this.name = new Uint32Array(capacity);
    this.resource = new Uint32Array(capacity);
    this.scope = new Uint32Array(capacity);
    this.bytes = new Uint32Array(capacity);
    this.firstProperty = new Uint32Array(capacity + 1);
    this.keys = new Uint32Array(capacity);
    this.types = new Uint8Array(capacity);
  }

  /** Of spans that nobody looked at before. */
  static of(spans: Iterable<ArchivedSpan>): SpanRows {
    const rows = new SpanRows();
    for (const span of spans) {
      checkSpan(span);
      rows.add(span);
    }
    return rows;
  }

  get hasEvents(): boolean {
    return this.#eventsByRow.size > 0;
  }

  get hasLinks(): boolean {
    return this.#linksByRow.size > 0;
  }

  get hasTexts(): boolean {
    return this.#textsByRow.size > 0;
  }

  events(row: number): readonly ArchivedEvent[] {
    return this.#eventsByRow.get(row) ?? NONE;
  }

  links(row: number): readonly ArchivedLink[] {
    return this.#linksByRow.get(row) ?? NONE;
  }

  traceState(row: number): string {
    return this.#textsByRow.get(row)?.traceState ?? '';
  }

  message(row: number): string {
    return this.#textsByRow.get(row)?.message ?? '';
  }

  nameOf(row: number): string {
    return this.texts[this.name[row]];
  }

  serviceOf(row: number): string {
    return serviceOf(this.resources.things[this.resource[row]]);
  }

  traceId(row: number): string {
    return this.traces.text(this.trace[row]);
  }

  spanId(row: number): string {
    return spanHex(this.id[2 * row], this.id[2 * row + 1]);
  }

  /** The number of a name or key. */
  textNumber(text: string): number {
    const known = this.#textNumbers.get(text);
    if (known !== undefined) return known;
    this.#textNumbers.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }

  /** Add a span. Throws for what no segment can keep. */
  add(span: ArchivedSpan): void {
    const row = this.begin();
    const { traceId, spanId, parentSpanId, traceState, status } = span;
    if (traceId !== this.#lastTraceId) {
      parseId(traceId, 'trace id', 4, idWords, 0);
      this.#lastTrace = this.traces.numberOf(idWords[0], idWords[1], idWords[2], idWords[3]);
      this.#lastTraceId = traceId;
    }
    this.trace[row] = this.#lastTrace;
    this.setIds(row, spanId, parentSpanId);
    setTime(this.start, row, span.startUnixNs, span);
    setTime(this.end, row, span.endUnixNs, span);
    this.kind[row] = numberOf(KINDS, span.kind, span);
    this.status[row] = numberOf(STATUS_CODES, status.code, span);
    this.name[row] = this.textNumber(span.name);
    this.resource[row] = this.resources.numberOf(span.resource);
    this.scope[row] = this.scopes.numberOf(span.scope);
    const properties = storedProperties(span);
    for (const key of Object.keys(properties)) {
      const value = properties[key];
      this.addProperty(this.textNumber(key), typeOf(value), value);
    }
    this.finish(traceState, status.message, span.events, span.links);
  }

  /** Give a row its ids, or other ones. */
  setIds(row: number, spanId: string, parentSpanId: string): void {
    parseId(spanId, 'span id', 2, this.id, 2 * row);
    if (parentSpanId !== '') parseId(parentSpanId, 'parent span id', 2, this.parent, 2 * row);
    this.hasParent[row] = parentSpanId === '' ? 0 : 1;
  }

  /** Begin a row: whoever fills its columns says so with `finish`. */
  begin(): number {
    const row = this.count;
    if (row === this.trace.length) this.#grow(2 * row);
    // What a row that was never finished left behind.
    if (this.values.length > this.firstProperty[row]) this.values.length = this.firstProperty[row];
    this.#propertyBytes = 0;
    return row;
  }

  /** A property of the row that was begun, as it is stored. */
  addProperty(key: number, type: number, value: ArchivedValue): void {
    const at = this.values.length;
    if (at === this.keys.length) {
      this.keys = longer(this.keys, 2 * at);
      this.types = longer(this.types, 2 * at);
    }
    this.keys[at] = key;
    this.types[at] = type;
    this.values.push(value);
    this.#propertyBytes += PROPERTY_BYTES + this.texts[key].length + decodedBytes(value);
  }

  /** What was begun is a row. Throws `LimitError` where it is too large. */
  finish(traceState: string, message: string, events: readonly ArchivedEvent[], links: readonly ArchivedLink[]): void {
    const row = this.count;
    let bytes = SPAN_BYTES + this.nameOf(row).length + traceState.length + message.length + this.#propertyBytes;
    for (const event of events) bytes += EVENT_BYTES + event.name.length + propertyBytes(storedProperties(event));
    for (const link of links) bytes += LINK_BYTES + link.traceState.length + propertyBytes(storedProperties(link));
    if (bytes > MAX_SPAN_BYTES)
      throw new LimitError(
        `span ${this.spanId(row)} of trace ${this.traceId(row)} takes ${bytes} bytes, more than the ${MAX_SPAN_BYTES} that a segment takes of one span`,
      );
    this.bytes[row] = bytes;
    if (traceState !== '' || message !== '') this.#textsByRow.set(row, { traceState, message });
    if (events.length > 0) this.#eventsByRow.set(row, events);
    if (links.length > 0) this.#linksByRow.set(row, links);
    this.count = row + 1;
    this.firstProperty[row + 1] = this.values.length;
  }

  /** Forget all rows from `count` on. */
  truncate(count: number): void {
    for (const byRow of [this.#textsByRow, this.#eventsByRow, this.#linksByRow])
      for (let row = count; row < this.count; row++) byRow.delete(row);
    this.count = count;
  }

  /** A row as a span. */
  span(row: number): ArchivedSpan {
    const { resources, scopes } = this;
    const parent = this.parent.subarray(2 * row, 2 * row + 2);
    return {
      traceId: this.traceId(row),
      spanId: this.spanId(row),
      parentSpanId: this.hasParent[row] === 1 ? spanHex(parent[0], parent[1]) : '',
      traceState: this.traceState(row),
      name: this.nameOf(row),
      kind: KINDS[this.kind[row]],
      startUnixNs: this.start.values[row],
      endUnixNs: this.end.values[row],
      status: { code: STATUS_CODES[this.status[row]], message: this.message(row) },
      ...this.#properties(row),
      events: this.events(row),
      links: this.links(row),
      resource: resources.things[this.resource[row]],
      scope: scopes.things[this.scope[row]],
    };
  }

  /** All rows as spans. */
  spans(): ArchivedSpan[] {
    return Array.from({ length: this.count }, (_, row) => this.span(row));
  }

  #properties(row: number): ReturnType<typeof restored> {
    const [first, end] = [this.firstProperty[row], this.firstProperty[row + 1]];
    if (first === end) return { properties: NO_PROPERTIES };
    const stored = new PropertyDraft();
    for (let i = first; i < end; i++) stored.set(this.texts[this.keys[i]], this.values[i]);
    return restored(stored.done());
  }

  #grow(length: number): void {
    this.trace = longer(this.trace, length);
    this.id = longer(this.id, 2 * length);
    this.parent = longer(this.parent, 2 * length);
    this.hasParent = longer(this.hasParent, length);
    this.start.grow(length);
    this.end.grow(length);
    this.kind = longer(this.kind, length);
    this.status = longer(this.status, length);
    this.name = longer(this.name, length);
    this.resource = longer(this.resource, length);
    this.scope = longer(this.scope, length);
    this.bytes = longer(this.bytes, length);
    this.firstProperty = longer(this.firstProperty, length + 1);
  }
}

const setTime = (times: Times, row: number, time: bigint, span: ArchivedSpan): void => {
  if (!isTime(time))
    throw new BadValueError(`span ${span.spanId} of trace ${span.traceId} has the time ${String(time)}: ${TIME_RULE}`);
  times.values[row] = time;
};

const numberOf = (names: readonly string[], name: string, { spanId, traceId }: ArchivedSpan): number => {
  const number = names.indexOf(name);
  if (number >= 0) return number;
  throw new BadValueError(
    `span ${spanId} of trace ${traceId} has ${JSON.stringify(name)} where one of ${names.join(', ')} belongs`,
  );
};
