// OTLP's messages: the one table of their fields that the readers of protobuf and of JSON and the writers share, and the archived objects that the
// readers fill by it. A further field of a span is a line here; the writers, which are tuned by hand, have one of their own. A number of a later version
// is refused, for it would leave as another. Source: opentelemetry-proto, trace/v1, resource/v1, common/v1.

import { BYTES, type ByteWriter, FIXED32, FIXED64, tag, VARINT } from '../../base/bytes/byte-writer.js';
import type {
  ArchivedEvent,
  ArchivedKind,
  ArchivedLink,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedStatusCode,
} from '../../record/archived-span.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { NO_PROPERTIES } from '../../record/properties.js';
import {
  type DecodeContext,
  NO_SPAN_ID,
  NO_TRACE_ID,
  type RefusalReason,
  type SharedParts,
} from '../decode-context.js';

/** OTLP's numbers for kinds and status codes. */
export const KIND_NUMBERS: Readonly<Record<ArchivedKind, number>> = {
  unspecified: 0,
  internal: 1,
  server: 2,
  client: 3,
  producer: 4,
  consumer: 5,
};
export const STATUS_NUMBERS: Readonly<Record<ArchivedStatusCode, number>> = { unset: 0, ok: 1, error: 2 };

/** By number. */
export const KINDS = Object.keys(KIND_NUMBERS) as readonly ArchivedKind[];
export const STATUS_CODES = Object.keys(STATUS_NUMBERS) as readonly ArchivedStatusCode[];

/** What a field holds, with its type in protobuf: an id is bytes in protobuf and hex digits in JSON, `nanos` are Unix time. */
const WIRE_TYPES = {
  text: BYTES,
  id: BYTES,
  nanos: FIXED64,
  count: VARINT,
  flags: FIXED32,
  enum: VARINT,
  attributes: BYTES,
  message: BYTES,
  messages: BYTES,
  bool: VARINT,
  integer: VARINT,
  double: FIXED64,
  array: BYTES,
  map: BYTES,
  bytes: BYTES,
} as const;

type Kind = keyof typeof WIRE_TYPES;

/** The names of an enum by number, and what their longer names begin with that senders with protobuf's own JSON write. */
export interface Enum {
  readonly names: readonly string[];
  readonly prefix: string;
  readonly unknown: RefusalReason;
}

/** An id that may be left out: what it is then, and why a span is refused for one of another length than `digits`. */
interface IdForm {
  readonly digits: number;
  readonly none: string;
  readonly bad: RefusalReason;
}

/** A field as the table has it: its number, what it holds, of which message, enum or form, or its name in the archive where that is another. */
type Cell = readonly [number: number, kind: Kind, of?: Message<object> | Enum | IdForm | string];

export interface Field {
  /** In JSON. */
  readonly name: string;
  /** In the archive. */
  readonly to: string;
  readonly kind: Kind;
  /** In protobuf. */
  readonly tag: number;
  readonly message?: Message<object>;
  readonly enum?: Enum;
  readonly id?: IdForm;
}

export interface Table<K extends string> {
  /** In errors. */
  readonly title: string;
  readonly fields: readonly Field[];
  readonly byTag: readonly (Field | undefined)[];
  readonly tags: Readonly<Record<K, number>>;
}

/** A message that is read as a `T`. */
export interface Message<T extends object, K extends string = string> extends Table<K> {
  /** One without any field. */
  make(): T;
  /** What is to be done once all fields are read. */
  finish?(made: T): void;
}

const table = <K extends string>(title: string, cells: Readonly<Record<K, Cell>>): Table<K> => {
  const fields = Object.entries<Cell>(cells).map(
    ([name, [number, kind, of]]): Field => ({
      name,
      to: typeof of === 'string' ? of : name,
      kind,
      tag: tag(number, WIRE_TYPES[kind]),
      message: typeof of === 'object' && 'make' in of ? of : undefined,
      enum: typeof of === 'object' && 'names' in of ? of : undefined,
      id: typeof of === 'object' && 'digits' in of ? of : undefined,
    }),
  );
  // One entry a tag: a table with holes would be a slow one.
  const byTag = Array.from({ length: 1 + Math.max(...fields.map((field) => field.tag)) }, (_, at) =>
    fields.find((field) => field.tag === at),
  );
  const tags = Object.fromEntries(fields.map((field) => [field.name, field.tag])) as Record<K, number>;
  return { title, fields, byTag, tags };
};

const message = <T extends object, K extends string>(
  title: string,
  make: () => T,
  cells: Readonly<Record<K, Cell>>,
  finish?: Message<T>['finish'],
): Message<T, K> => ({ ...table(title, cells), make, finish });

type Draft<T> = { -readonly [K in keyof T]: T[K] };

export const ANY_VALUE = table('value', {
  stringValue: [1, 'text'],
  boolValue: [2, 'bool'],
  intValue: [3, 'integer'],
  doubleValue: [4, 'double'],
  arrayValue: [5, 'array'],
  kvlistValue: [6, 'map'],
  bytesValue: [7, 'bytes'],
});

export const KEY_VALUE = table('an attribute', { key: [1, 'text'], value: [2, 'message'] });

/** ArrayValue and KeyValueList. */
export const VALUES = table('values', { values: [1, 'messages'] });

export const RESOURCE = message('resource', (): Draft<ArchivedResource> => ({ properties: NO_PROPERTIES }), {
  attributes: [1, 'attributes', 'properties'],
  droppedAttributesCount: [2, 'count'],
});

export const SCOPE = message(
  'scope',
  (): Draft<ArchivedScope> => ({ name: '', version: '', properties: NO_PROPERTIES }),
  {
    name: [1, 'text'],
    version: [2, 'text'],
    attributes: [3, 'attributes', 'properties'],
    droppedAttributesCount: [4, 'count'],
  },
);

const EVENT = message('an event', (): ArchivedEvent => ({ name: '', timeUnixNs: 0n, properties: NO_PROPERTIES }), {
  timeUnixNano: [1, 'nanos', 'timeUnixNs'],
  name: [2, 'text'],
  attributes: [3, 'attributes', 'properties'],
  droppedAttributesCount: [4, 'count'],
});

const LINK = message(
  'a link',
  // OpenTelemetry allows links to nothing, whose ids are left out or zero.
  (): ArchivedLink => ({ traceId: NO_TRACE_ID, spanId: NO_SPAN_ID, traceState: '', properties: NO_PROPERTIES }),
  {
    traceId: [1, 'id', { digits: 32, none: NO_TRACE_ID, bad: 'bad link' }],
    spanId: [2, 'id', { digits: 16, none: NO_SPAN_ID, bad: 'bad link' }],
    traceState: [3, 'text'],
    attributes: [4, 'attributes', 'properties'],
    flags: [6, 'flags'],
    droppedAttributesCount: [5, 'count'],
  },
);

const UNSET: ArchivedSpan['status'] = Object.freeze({ code: 'unset', message: '' });

const STATUS = message('status', (): ArchivedSpan['status'] => ({ code: 'unset', message: '' }), {
  message: [2, 'text'],
  code: [3, 'enum', { names: STATUS_CODES, prefix: 'STATUS_CODE_', unknown: 'unknown status code' }],
});

/** What a list is before anything is in it. */
export const NOTHING: readonly never[] = Object.freeze([]);
const NO_RESOURCE = RESOURCE.make();
const NO_SCOPE = SCOPE.make();

export const SPAN = message(
  'a span',
  (): Draft<ArchivedSpan> => ({
    traceId: '',
    spanId: '',
    parentSpanId: '',
    traceState: '',
    name: '',
    kind: 'unspecified',
    startUnixNs: 0n,
    endUnixNs: 0n,
    status: UNSET,
    properties: NO_PROPERTIES,
    events: NOTHING,
    links: NOTHING,
    resource: NO_RESOURCE,
    scope: NO_SCOPE,
  }),
  {
    traceId: [1, 'id'],
    spanId: [2, 'id'],
    parentSpanId: [4, 'id', { digits: 16, none: '', bad: 'bad parent span id' }],
    traceState: [3, 'text'],
    name: [5, 'text'],
    kind: [6, 'enum', { names: KINDS, prefix: 'SPAN_KIND_', unknown: 'unknown kind' }],
    startTimeUnixNano: [7, 'nanos', 'startUnixNs'],
    endTimeUnixNano: [8, 'nanos', 'endUnixNs'],
    status: [15, 'message', STATUS],
    attributes: [9, 'attributes', 'properties'],
    events: [11, 'messages', EVENT],
    links: [13, 'messages', LINK],
    flags: [16, 'flags'],
    droppedAttributesCount: [10, 'count'],
    droppedEventsCount: [12, 'count'],
    droppedLinksCount: [14, 'count'],
  },
  (span) => {
    const { parentSpanId, status } = span;
    if (parentSpanId === NO_SPAN_ID) span.parentSpanId = '';
    // Most are, and share one object.
    if (status.code === 'unset' && status.message === '') span.status = UNSET;
  },
);

/** The id that these hex digits are. */
export const idOf = ({ id }: Field, hex: string, context: DecodeContext): string => {
  if (id === undefined) return hex;
  if (hex === '') return id.none;
  if (hex.length !== id.digits) context.flaw(id.bad);
  return hex;
};

/** The name of a number, or the first where there is none: the span is refused. */
export const nameOf = ({ names, unknown }: Enum, number: number, context: DecodeContext): string => {
  if (names[number] === undefined) context.flaw(unknown);
  return names[number] ?? names[0];
};

/** Of this and of ResourceSpans the readers know the order: maker, members, schema URL. */
export const SCOPE_SPANS = table('an element of scopeSpans', {
  scope: [1, 'message', SCOPE],
  spans: [2, 'messages', SPAN],
  schemaUrl: [3, 'text'],
});

export const RESOURCE_SPANS = table('an element of resourceSpans', {
  resource: [1, 'message', RESOURCE],
  scopeSpans: [2, 'messages'],
  schemaUrl: [3, 'text'],
});

/** ExportTraceServiceRequest and TracesData. */
export const TRACES = table('the document', { resourceSpans: [1, 'messages'] });

/**
 * What ResourceSpans and ScopeSpans name as the maker of what is in them, as the archive has it: one object for all that came as the same `key`, in
 * this request and in earlier ones.
 */
export const makerOnce = <T extends { schemaUrl?: string }>(
  makers: SharedParts<T>,
  context: DecodeContext,
  key: string,
  schemaUrl: string,
  read: () => T,
): T => {
  const found = makers.get(key);
  if (found !== undefined) return found;
  const made = read();
  if (schemaUrl !== '') made.schemaUrl = schemaUrl;
  if (context.isSound(context.shared(made))) makers.set(key, made);
  return made;
};

/** The tags of all fields, for the writer of protobuf. */
export const TAGS = {
  traces: TRACES.tags,
  resourceSpans: RESOURCE_SPANS.tags,
  resource: RESOURCE.tags,
  scopeSpans: SCOPE_SPANS.tags,
  scope: SCOPE.tags,
  span: SPAN.tags,
  event: EVENT.tags,
  link: LINK.tags,
  status: STATUS.tags,
  keyValue: KEY_VALUE.tags,
  value: ANY_VALUE.tags,
  values: VALUES.tags,
};

/** The spans of a request that were recorded by one library, as they were written. */
export interface ScopedSpans {
  readonly scope: ArchivedScope;
  readonly spans: readonly Uint8Array[];
}

/** One form of OTLP's ExportTraceServiceRequest: one resource, spans by scope. */
export interface OtlpFormat {
  readonly contentType: string;
  /** Bytes that {@link OtlpFormat.end} may add. */
  readonly endBytes: number;
  /** Write what comes before the spans, into an empty writer. */
  begin(writer: ByteWriter, resource: ArchivedResource, scope: ArchivedScope): void;
  span(writer: ByteWriter, span: FinishedSpan, isFirst: boolean): void;
  /** Bytes between two spans. */
  readonly separatorBytes: number;
  /** A whole request for the resource of the last `begin`, of spans that were written after it. */
  grouped(writer: ByteWriter, groups: readonly ScopedSpans[]): void;
  /** Complete the request of one scope; gives the position where it begins. */
  end(writer: ByteWriter): number;
}
