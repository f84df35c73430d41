// The conditions of a search that one and the same span must meet, and whether a span meets them: the only place that says so, whether the
// span lies in memory or in the columns of a segment. Must not build anything for a span that is not asked for it.
import {
  type ArchivedEvent,
  type ArchivedProperties,
  type ArchivedSpan,
  type ArchivedValue,
  type FinishedSpan,
  goJson,
  ObjectView,
  propertyOf,
} from 'spanline/internal/record';
import type { TraceSearch } from './trace-search.js';

/** What conditions look at: fields of a finished span, and what they ask for by name. */
export interface SpanView
  extends Pick<
    FinishedSpan,
    'name' | 'kind' | 'statusCode' | 'statusMessage' | 'traceState' | 'resource' | 'scope' | 'startUnixNs'
  > {
  /** '' where its resource names none. */
  readonly service: string;
  readonly endUnixNs: bigint;
  readonly events: readonly Pick<ArchivedEvent, 'name' | 'properties'>[];
  property(key: string): ArchivedValue | undefined;
  /** Whether it has a link to a trace, another than its own. */
  linksTo(traceId: string): boolean;
}

/** A search that knows by which name those are meant whose resource names no service. */
export interface NamedSearch extends TraceSearch {
  readonly unnamedService?: string;
}

/** The services that are meant, '' where spans have none; nothing when all are. */
export const meantServices = ({ service, unnamedService }: NamedSearch): readonly string[] | undefined =>
  service === undefined ? undefined : service === unnamedService ? [service, ''] : [service];

/** The properties that must be there. */
export const wantedProperties = ({ properties }: TraceSearch): readonly (readonly [key: string, text: string])[] =>
  Object.entries(properties ?? {});

/** Whether any condition is about when the span was. */
export const hasTimeConditions = (search: TraceSearch): boolean =>
  search.minSpanDurationNs !== undefined ||
  search.maxSpanDurationNs !== undefined ||
  search.spanFromUnixNs !== undefined ||
  search.spanToUnixNs !== undefined;

/** Whether any condition is one of spans. */
export const hasSpanConditions = (search: TraceSearch): boolean =>
  search.service !== undefined ||
  search.name !== undefined ||
  search.status !== undefined ||
  search.linkedTo !== undefined ||
  hasTimeConditions(search) ||
  wantedProperties(search).length > 0;

/** A text as it is, '' for no content, numbers and booleans as JavaScript writes them, bytes in base64, lists and maps as JSON. */
export const propertyText = (value: ArchivedValue): string => {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (typeof value === 'object') return JSON.stringify(value, (_, item: ArchivedValue) => plain(item));
  return String(value);
};

/** Whether a search for a text means the value. Lists, maps and minus zero may also be written as Jaeger shows them. */
const isPropertyText = (value: ArchivedValue, text: string): boolean =>
  propertyText(value) === text || (isShownOtherwise(value) && goJson(value) === text);

const isShownOtherwise = (value: ArchivedValue): boolean =>
  typeof value === 'object' ? !(value instanceof Uint8Array) : Object.is(value, -0);

const plain = (value: ArchivedValue): unknown => {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  return value;
};

/** Fields by the names that Jaeger and OpenTelemetry show them under. */
const FIELDS = new Map<string, (span: SpanView) => string>([
  ['span.kind', ({ kind }) => (kind === 'unspecified' ? '' : kind)],
  ['otel.status_code', ({ statusCode }) => (statusCode === 'unset' ? '' : statusCode.toUpperCase())],
  ['otel.status_description', ({ statusMessage }) => statusMessage],
  ['otel.scope.name', ({ scope }) => scope.name],
  ['otel.scope.version', ({ scope }) => scope.version],
  ['w3c.tracestate', ({ traceState }) => traceState],
]);

const hasText = (properties: ArchivedProperties, key: string, text: string): boolean => {
  const value = propertyOf(properties, key);
  return value !== undefined && isPropertyText(value, text);
};

/** Whether the span, who made it, its scope, one of its events or one of its fields says so. */
const hasProperty = (span: SpanView, key: string, text: string): boolean => {
  if (key === 'error' && text === 'false') return span.statusCode !== 'error';
  if (key === 'error' && text === 'true' && span.statusCode === 'error') return true;
  const own = span.property(key);
  if (own !== undefined && isPropertyText(own, text)) return true;
  if (text !== '' && FIELDS.get(key)?.(span) === text) return true;
  if (hasText(span.resource.properties, key, text) || hasText(span.scope.properties, key, text)) return true;
  return span.events.some(
    ({ name, properties }) => hasText(properties, key, text) || (key === 'event' && name === text),
  );
};

const meetsTimes = ({ startUnixNs, endUnixNs }: SpanView, search: TraceSearch): boolean => {
  const { minSpanDurationNs, maxSpanDurationNs, spanFromUnixNs, spanToUnixNs } = search;
  const duration = endUnixNs - startUnixNs;
  return (
    (minSpanDurationNs === undefined || duration >= minSpanDurationNs) &&
    (maxSpanDurationNs === undefined || duration <= maxSpanDurationNs) &&
    (spanFromUnixNs === undefined || startUnixNs >= spanFromUnixNs) &&
    (spanToUnixNs === undefined || startUnixNs <= spanToUnixNs)
  );
};

const isOfService = (service: string, search: NamedSearch): boolean =>
  service === search.service || (service === '' && search.service === search.unnamedService);

/** Whether a span meets all conditions of spans. */
export const meetsSpanConditions = (span: SpanView, search: NamedSearch): boolean =>
  (search.name === undefined || span.name === search.name) &&
  (search.status === undefined || span.statusCode === search.status) &&
  (search.service === undefined || isOfService(span.service, search)) &&
  (!hasTimeConditions(search) || meetsTimes(span, search)) &&
  (search.linkedTo === undefined || span.linksTo(search.linkedTo)) &&
  wantedProperties(search).every(([key, text]) => hasProperty(span, key, text));

/** A span in memory as conditions see it. */
class ListedSpan extends ObjectView<ArchivedSpan> implements SpanView {
  get service(): string {
    const name = propertyOf(this.resource.properties, 'service.name');
    return typeof name === 'string' ? name : '';
  }
  get events(): readonly ArchivedEvent[] {
    return this.from.events;
  }
  property(key: string): ArchivedValue | undefined {
    return propertyOf(this.from.properties, key);
  }
  linksTo(traceId: string): boolean {
    return traceId !== this.from.traceId && this.from.links.some((link) => link.traceId === traceId);
  }
}

/** Serves one span after another. */
const LISTED = new ListedSpan();

/** Whether a span in memory meets all conditions of spans. */
export const isMeant = (span: ArchivedSpan, search: NamedSearch): boolean =>
  meetsSpanConditions(LISTED.of(span), search);
