// OTLP's messages as they are read: the one table of their fields by which the readers of protobuf and of JSON go, and the archived objects that they fill.
// A further field of a span is a line here. A number of a later version is refused, for it would leave as another. Source: opentelemetry-proto, trace/v1,
// resource/v1, common/v1.
import { KINDS, STATUS_CODES, TAGS } from 'spanline/internal/formats';
import {
  type ArchivedEvent,
  type ArchivedLink,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  NO_PROPERTIES,
} from 'spanline/internal/record';
import {
  type DecodeContext,
  NO_SPAN_ID,
  NO_TRACE_ID,
  type RefusalReason,
  type SharedParts,
} from '../decode-context.js';

/** What a field holds: an id is bytes in protobuf and hex digits in JSON, `nanos` are Unix time. */
type Kind =
  | 'text'
  | 'id'
  | 'nanos'
  | 'count'
  | 'flags'
  | 'enum'
  | 'attributes'
  | 'message'
  | 'messages'
  | 'bool'
  | 'integer'
  | 'double'
  | 'array'
  | 'map'
  | 'bytes';

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

/** A field as the table has it: what it holds, of which message, enum or form, or its name in the archive where that is another. */
type Cell = readonly [kind: Kind, of?: Message<object> | Enum | IdForm | string];

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

export interface Table {
  /** In errors. */
  readonly title: string;
  readonly fields: readonly Field[];
  readonly byTag: readonly (Field | undefined)[];
}

/** A message that is read as a `T`. */
export interface Message<T extends object> extends Table {
  /** One without any field. */
  make(): T;
  /** What is to be done once all fields are read. */
  finish?(made: T): void;
}

/** Of each field of `tags` one of `cells` says what it holds. */
const table = <K extends string>(
  title: string,
  tags: Readonly<Record<K, number>>,
  cells: Readonly<Record<K, Cell>>,
): Table => {
  const fields = Object.entries<Cell>(cells).map(
    ([name, [kind, of]]): Field => ({
      name,
      to: typeof of === 'string' ? of : name,
      kind,
      tag: tags[name as K],
      message: typeof of === 'object' && 'make' in of ? of : undefined,
      enum: typeof of === 'object' && 'names' in of ? of : undefined,
      id: typeof of === 'object' && 'digits' in of ? of : undefined,
    }),
  );
  // One entry a tag: a table with holes would be a slow one.
  const byTag = Array.from({ length: 1 + Math.max(...fields.map((field) => field.tag)) }, (_, at) =>
    fields.find((field) => field.tag === at),
  );
  return { title, fields, byTag };
};

const message = <T extends object, K extends string>(
  title: string,
  make: () => T,
  tags: Readonly<Record<K, number>>,
  cells: Readonly<Record<K, Cell>>,
  finish?: Message<T>['finish'],
): Message<T> => ({ ...table(title, tags, cells), make, finish });

type Draft<T> = { -readonly [K in keyof T]: T[K] };

export const ANY_VALUE = table('value', TAGS.value, {
  stringValue: ['text'],
  boolValue: ['bool'],
  intValue: ['integer'],
  doubleValue: ['double'],
  arrayValue: ['array'],
  kvlistValue: ['map'],
  bytesValue: ['bytes'],
});

export const KEY_VALUE = table('an attribute', TAGS.keyValue, { key: ['text'], value: ['message'] });

/** ArrayValue and KeyValueList. */
export const VALUES = table('values', TAGS.values, { values: ['messages'] });

export const RESOURCE = message(
  'resource',
  (): Draft<ArchivedResource> => ({ properties: NO_PROPERTIES }),
  TAGS.resource,
  {
    attributes: ['attributes', 'properties'],
    droppedAttributesCount: ['count'],
  },
);

export const SCOPE = message(
  'scope',
  (): Draft<ArchivedScope> => ({ name: '', version: '', properties: NO_PROPERTIES }),
  TAGS.scope,
  {
    name: ['text'],
    version: ['text'],
    attributes: ['attributes', 'properties'],
    droppedAttributesCount: ['count'],
  },
);

const EVENT = message(
  'an event',
  (): ArchivedEvent => ({ name: '', timeUnixNs: 0n, properties: NO_PROPERTIES }),
  TAGS.event,
  {
    timeUnixNano: ['nanos', 'timeUnixNs'],
    name: ['text'],
    attributes: ['attributes', 'properties'],
    droppedAttributesCount: ['count'],
  },
);

const LINK = message(
  'a link',
  // OpenTelemetry allows links to nothing, whose ids are left out or zero.
  (): ArchivedLink => ({ traceId: NO_TRACE_ID, spanId: NO_SPAN_ID, traceState: '', properties: NO_PROPERTIES }),
  TAGS.link,
  {
    traceId: ['id', { digits: 32, none: NO_TRACE_ID, bad: 'bad link' }],
    spanId: ['id', { digits: 16, none: NO_SPAN_ID, bad: 'bad link' }],
    traceState: ['text'],
    attributes: ['attributes', 'properties'],
    flags: ['flags'],
    droppedAttributesCount: ['count'],
  },
);

const UNSET: ArchivedSpan['status'] = Object.freeze({ code: 'unset', message: '' });

const STATUS = message('status', (): ArchivedSpan['status'] => ({ code: 'unset', message: '' }), TAGS.status, {
  message: ['text'],
  code: ['enum', { names: STATUS_CODES, prefix: 'STATUS_CODE_', unknown: 'unknown status code' }],
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
  TAGS.span,
  {
    traceId: ['id'],
    spanId: ['id'],
    parentSpanId: ['id', { digits: 16, none: '', bad: 'bad parent span id' }],
    traceState: ['text'],
    name: ['text'],
    kind: ['enum', { names: KINDS, prefix: 'SPAN_KIND_', unknown: 'unknown kind' }],
    startTimeUnixNano: ['nanos', 'startUnixNs'],
    endTimeUnixNano: ['nanos', 'endUnixNs'],
    status: ['message', STATUS],
    attributes: ['attributes', 'properties'],
    events: ['messages', EVENT],
    links: ['messages', LINK],
    flags: ['flags'],
    droppedAttributesCount: ['count'],
    droppedEventsCount: ['count'],
    droppedLinksCount: ['count'],
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
export const SCOPE_SPANS = table('an element of scopeSpans', TAGS.scopeSpans, {
  scope: ['message', SCOPE],
  spans: ['messages', SPAN],
  schemaUrl: ['text'],
});

export const RESOURCE_SPANS = table('an element of resourceSpans', TAGS.resourceSpans, {
  resource: ['message', RESOURCE],
  scopeSpans: ['messages'],
  schemaUrl: ['text'],
});

/** ExportTraceServiceRequest and TracesData. */
export const TRACES = table('the document', TAGS.traces, { resourceSpans: ['messages'] });

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
