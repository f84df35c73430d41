// Spans of Zipkin's API, version 2, as archived spans, by OpenTelemetry's translation of the two. What that has no field for is a property: nothing of
// a span may be lost. One bad span does not cost the others.
import { getOrMake } from 'spanline/internal/base';
import { jaegerKeys, STATUS_CODES } from 'spanline/internal/formats';
import {
  type ArchivedEvent,
  type ArchivedKind,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedValue,
  NO_PROPERTIES,
  PropertyDraft,
} from 'spanline/internal/record';
import { type DecodeContext, NO_SPAN_ID } from './decode-context.js';
import {
  idOf,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  toObject,
  toText,
  uint32Of,
  uint64Of,
} from './json-fields.js';
import { malformed } from './trace-format-error.js';

const { ERROR, SCOPE_NAME, SCOPE_VERSION, SERVICE_NAME, STATUS_CODE, TRACE_STATE } = jaegerKeys;

const KINDS: Readonly<Record<string, ArchivedKind>> = {
  '': 'unspecified',
  CLIENT: 'client',
  SERVER: 'server',
  PRODUCER: 'producer',
  CONSUMER: 'consumer',
};

const add = (properties: PropertyDraft, key: string, value: ArchivedValue): void => {
  // A tag of that key was there first.
  if (value !== '' && value !== 0 && !properties.has(key)) properties.set(key, value);
};

/** An address, under the keys of one end of a connection. */
const addEndpoint = (properties: PropertyDraft, endpoint: JsonObject, end: 'local' | 'peer'): void => {
  const [v4, v6] = [textOf(endpoint, 'ipv4'), textOf(endpoint, 'ipv6')];
  add(properties, `network.${end}.address`, v4 === '' ? v6 : v4);
  if (v4 !== '') add(properties, `network.${end}.address.ipv6`, v6);
  add(properties, `network.${end}.port`, uint32Of(endpoint, 'port'));
};

const tagsOf = (span: JsonObject, context: DecodeContext): Map<string, string> => {
  const tags = new Map<string, string>();
  for (const [key, value] of Object.entries(objectOf(span, 'tags') ?? {})) {
    context.item();
    tags.set(key, toText(value, `the tag ${key}`));
  }
  return tags;
};

const taken = (tags: Map<string, string>, key: string): string => {
  const value = tags.get(key) ?? '';
  tags.delete(key);
  return value;
};

/** The tag "error" says that a span failed, and why. */
const statusOf = (tags: Map<string, string>): ArchivedSpan['status'] => {
  const code = tags.get(STATUS_CODE)?.toLowerCase() as ArchivedSpan['status']['code'] | undefined;
  const isCode = code !== undefined && STATUS_CODES.includes(code);
  if (isCode) tags.delete(STATUS_CODE);
  const error = tags.get(ERROR);
  if (error === undefined || error === 'false' || (isCode && code !== 'error'))
    return { code: isCode ? code : 'unset', message: '' };
  tags.delete(ERROR);
  return { code: 'error', message: error === 'true' ? '' : error };
};

const eventOf = (raw: unknown, context: DecodeContext): ArchivedEvent => {
  context.item();
  const annotation = toObject(raw, 'an annotation');
  return {
    name: textOf(annotation, 'value'),
    timeUnixNs: uint64Of(annotation, 'timestamp') * 1000n,
    properties: NO_PROPERTIES,
  };
};

/** Some reporters leave the time to the annotations. */
const startOf = (span: JsonObject, events: readonly ArchivedEvent[]): bigint => {
  const start = uint64Of(span, 'timestamp') * 1000n;
  if (start > 0n) return start;
  const times = events.map(({ timeUnixNs }) => timeUnixNs).filter((time) => time > 0n);
  if (times.length === 0) throw malformed('timestamp must be there, or an annotation with one');
  return times.reduce((min, time) => (time < min ? time : min));
};

/** Resources and scopes of a document, each one object however many spans it has. */
class Parts {
  readonly #resources = new Map<string, ArchivedResource>();
  readonly #scopes = new Map<string, ArchivedScope>();

  resource(service: string): ArchivedResource {
    return getOrMake(this.#resources, service, () => ({
      properties: service === '' ? NO_PROPERTIES : { [SERVICE_NAME]: service },
    }));
  }

  scope(name: string, version: string): ArchivedScope {
    return getOrMake(this.#scopes, JSON.stringify([name, version]), () => ({
      name,
      version,
      properties: NO_PROPERTIES,
    }));
  }
}

const readSpan = (raw: unknown, parts: Parts, context: DecodeContext): void => {
  context.item();
  const span = toObject(raw, 'a span');
  const tags = tagsOf(span, context);
  const status = statusOf(tags);
  const scope = parts.scope(taken(tags, SCOPE_NAME), taken(tags, SCOPE_VERSION));
  const traceState = taken(tags, TRACE_STATE);
  const properties = new PropertyDraft();
  for (const [key, value] of tags) properties.set(key, value);
  const local = objectOf(span, 'localEndpoint') ?? {};
  const remote = objectOf(span, 'remoteEndpoint') ?? {};
  addEndpoint(properties, local, 'local');
  add(properties, 'peer.service', textOf(remote, 'serviceName'));
  addEndpoint(properties, remote, 'peer');
  for (const flag of ['shared', 'debug']) if (span[flag] === true) add(properties, `zipkin.${flag}`, true);
  const kind = KINDS[textOf(span, 'kind').toUpperCase()];
  if (kind === undefined) context.flaw('unknown kind');
  const parent = idOf(span, 'parentId', 16);
  const parentSpanId = parent === NO_SPAN_ID ? '' : parent;
  if (parentSpanId !== '' && parentSpanId.length !== 16) context.flaw('bad parent span id');
  const events = listOf(span, 'annotations').map((annotation) => eventOf(annotation, context));
  const startUnixNs = startOf(span, events);
  context.take({
    traceId: idOf(span, 'traceId', 32),
    spanId: idOf(span, 'id', 16),
    parentSpanId,
    traceState,
    name: textOf(span, 'name'),
    kind: kind ?? 'unspecified',
    startUnixNs,
    endUnixNs: startUnixNs + uint64Of(span, 'duration') * 1000n,
    status,
    properties: properties.done(),
    events,
    links: [],
    resource: parts.resource(textOf(local, 'serviceName')),
    scope,
  });
};

/** The spans of a parsed document, a list of spans or a list of traces, each a list of spans: kept in the context, or refused there. */
export const readZipkin = (document: unknown, context: DecodeContext): void => {
  if (!Array.isArray(document)) throw malformed('a document of Zipkin must be a list of spans or of traces');
  const parts = new Parts();
  for (const raw of document.flat(1)) {
    try {
      readSpan(raw, parts, context);
    } catch (error) {
      context.refuse(error);
    }
  }
};
