// Decodes OTLP requests independently of our encoder: protobuf with protobufjs on the public message definitions, JSON with
// JSON.parse; both into one plain form, with proto3's defaults filled in, so that the two and a model can be compared.
import { otlpMessages } from '../../support/otlp-messages.js';

const Request = otlpMessages.lookupType('Request');

/** A body of the message `name`, for a server to answer with. */
export const encodeMessage = (name: 'Response' | 'RpcStatus', content: Record<string, unknown>): Buffer => {
  const type = otlpMessages.lookupType(name);
  return Buffer.from(type.encode(type.fromObject(content)).finish());
};

/** `['int', '42']`: the type is part of what is compared. */
export type DecodedValue =
  | readonly ['string', string]
  | readonly ['int', string]
  | readonly ['double', number]
  | readonly ['bool', boolean]
  | readonly ['array', readonly DecodedValue[]]
  | readonly ['none'];
export type DecodedAttributes = readonly (readonly [key: string, value: DecodedValue])[];

export interface DecodedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState: string;
  name: string;
  kind: number;
  start: string;
  end: string;
  flags: number;
  status: { code: number; message: string };
  attributes: DecodedAttributes;
  events: { time: string; name: string; attributes: DecodedAttributes; dropped: number }[];
  links: {
    traceId: string;
    spanId: string;
    traceState: string;
    flags: number;
    attributes: DecodedAttributes;
    dropped: number;
  }[];
  dropped: number[];
}

export interface DecodedRequest {
  resource: DecodedAttributes;
  scope: { name: string; version: string };
  spans: DecodedSpan[];
}

// biome-ignore lint/suspicious/noExplicitAny: JSON, or protobufjs's form of it
type Raw = any;

const toValue = (raw: Raw): DecodedValue => {
  if (raw?.stringValue !== undefined) return ['string', raw.stringValue];
  if (raw?.boolValue !== undefined) return ['bool', raw.boolValue];
  if (raw?.intValue !== undefined) return ['int', String(raw.intValue)];
  if (raw?.doubleValue !== undefined) return ['double', Number(raw.doubleValue)];
  if (raw?.arrayValue !== undefined) return ['array', (raw.arrayValue.values ?? []).map(toValue)];
  return ['none'];
};

const toAttributes = (raw: Raw): DecodedAttributes =>
  (raw ?? []).map(({ key, value }: Raw) => [key, toValue(value)] as const);

const toId = (raw: Raw): string => (typeof raw === 'string' ? raw : Buffer.from(raw ?? []).toString('hex'));

const toSpan = (raw: Raw): DecodedSpan => ({
  traceId: toId(raw.traceId),
  spanId: toId(raw.spanId),
  parentSpanId: toId(raw.parentSpanId),
  traceState: raw.traceState ?? '',
  name: raw.name ?? '',
  kind: raw.kind ?? 0,
  start: String(raw.startTimeUnixNano ?? 0),
  end: String(raw.endTimeUnixNano ?? 0),
  flags: raw.flags ?? 0,
  status: { code: raw.status?.code ?? 0, message: raw.status?.message ?? '' },
  attributes: toAttributes(raw.attributes),
  events: (raw.events ?? []).map((event: Raw) => ({
    time: String(event.timeUnixNano ?? 0),
    name: event.name ?? '',
    attributes: toAttributes(event.attributes),
    dropped: event.droppedAttributesCount ?? 0,
  })),
  links: (raw.links ?? []).map((link: Raw) => ({
    traceId: toId(link.traceId),
    spanId: toId(link.spanId),
    traceState: link.traceState ?? '',
    flags: link.flags ?? 0,
    attributes: toAttributes(link.attributes),
    dropped: link.droppedAttributesCount ?? 0,
  })),
  dropped: [raw.droppedAttributesCount ?? 0, raw.droppedEventsCount ?? 0, raw.droppedLinksCount ?? 0],
});

/** Requires the one resource and one scope that our exporters send. */
const toRequest = (raw: Raw): DecodedRequest => {
  const [resourceSpans, ...otherResources] = raw.resourceSpans;
  const [scopeSpans, ...otherScopes] = resourceSpans.scopeSpans;
  if (otherResources.length + otherScopes.length > 0) throw new Error('more than one resource or scope');
  return {
    resource: toAttributes(resourceSpans.resource.attributes),
    scope: { name: scopeSpans.scope.name, version: scopeSpans.scope.version },
    spans: scopeSpans.spans.map(toSpan),
  };
};

export const decodeProtobuf = (body: Uint8Array): DecodedRequest =>
  toRequest(Request.toObject(Request.decode(body), { longs: String }));

export const decodeJson = (body: Uint8Array | string): DecodedRequest =>
  toRequest(JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()));

/** The spans of a request, each with the name of its scope, of however many resources and scopes. */
export const decodeSpans = (body: Uint8Array, isJson = false): (DecodedSpan & { scope: string })[] => {
  const { resourceSpans = [] }: Raw = isJson
    ? JSON.parse(Buffer.from(body).toString())
    : Request.toObject(Request.decode(body), { longs: String });
  return resourceSpans.flatMap(({ scopeSpans = [] }: Raw) =>
    scopeSpans.flatMap(({ scope, spans = [] }: Raw) =>
      spans.map((one: Raw) => ({ ...toSpan(one), scope: scope.name })),
    ),
  );
};
