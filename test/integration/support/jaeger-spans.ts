// What a Jaeger shows of spans in its older query API, in one form, and what it ought to show of our records.

import type { Resource } from '../../../src/collector/reporter.js';
import { resourceProperties } from '../../../src/formats/library.js';
import type { EventRecord, SpanRecord } from '../../../src/record/record.js';
import type { PropertyValue } from '../../../src/rows/property.js';

/** A tag as text: type, and the value as JSON has it. */
type Tags = Readonly<Record<string, string>>;

export interface ShownSpan {
  readonly name: string;
  readonly references: readonly string[];
  readonly startTime: number;
  readonly duration: number;
  readonly tags: Tags;
  readonly logs: readonly { readonly timestamp: number; readonly fields: Tags }[];
  readonly serviceName: string;
  readonly processTags: Tags;
  readonly warnings: readonly string[] | null;
}

interface JsonTag {
  readonly key: string;
  readonly type: string;
  readonly value: unknown;
}

interface JsonSpan {
  readonly traceID: string;
  readonly spanID: string;
  readonly operationName: string;
  readonly references: readonly { readonly refType: string; readonly traceID: string; readonly spanID: string }[];
  readonly startTime: number;
  readonly duration: number;
  readonly tags: readonly JsonTag[];
  readonly logs: readonly { readonly timestamp: number; readonly fields: readonly JsonTag[] }[];
  readonly processID: string;
  readonly warnings: readonly string[] | null;
}

export interface JsonTrace {
  readonly traceID: string;
  readonly spans: readonly JsonSpan[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string; readonly tags: readonly JsonTag[] }>>;
}

const tagsIn = (tags: readonly JsonTag[]): Tags =>
  Object.fromEntries(tags.map(({ key, type, value }) => [key, `${type} ${JSON.stringify(value)}`]));

/** Spans by id. */
export const shownSpans = (traces: readonly JsonTrace[]): Map<string, ShownSpan> =>
  new Map(
    traces.flatMap(({ spans, processes }) =>
      spans.map((span): [string, ShownSpan] => {
        const { serviceName, tags } = processes[span.processID];
        return [
          `${span.traceID.padStart(32, '0')} ${span.spanID}`,
          {
            name: span.operationName,
            references: span.references.map(
              ({ refType, traceID, spanID }) => `${refType} ${traceID.padStart(32, '0')} ${spanID}`,
            ),
            startTime: span.startTime,
            duration: span.duration,
            tags: tagsIn(span.tags),
            logs: span.logs.map(({ timestamp, fields }) => ({ timestamp, fields: tagsIn(fields) })),
            serviceName,
            processTags: tagsIn(tags),
            warnings: span.warnings,
          },
        ];
      }),
    ),
  );

/** How a protocol brings what Jaeger has no field for. */
export interface Way {
  /** Thrift: nanoseconds, and more of links, as tags and logs; no scope; "internal" left out; resource attributes only. */
  readonly isThrift: boolean;
}

const listText = (list: readonly unknown[]): string =>
  `[${list.map((item) => (typeof item === 'bigint' ? String(item) : JSON.stringify(item))).join(',')}]`;

const tagOf = (value: PropertyValue): string => {
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `bool ${value}`;
  if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) !== value) return `string "${value}"`;
    return Number.isSafeInteger(Number(value)) ? `int64 ${value}` : `int64 "${value}"`;
  }
  if (typeof value === 'number') {
    if (Number.isSafeInteger(value)) return `int64 ${value}`;
    return Number.isFinite(value) ? `float64 ${JSON.stringify(value)}` : `string "${value}"`;
  }
  return `string ${JSON.stringify(listText(value))}`;
};

const tagsOf = (properties: Readonly<Record<string, PropertyValue | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, tagOf(value as PropertyValue)]));

const microseconds = (ns: bigint): number => Number(ns / 1000n);

const spanTags = (span: SpanRecord, { isThrift }: Way): Tags => {
  const { code, message } = span.status;
  const tags = tagsOf(span.properties);
  if (isThrift) {
    tags['spanline.ns'] = `int64 ${span.startUnixNs % 1000n}`;
    tags['spanline.duration_ns'] = `int64 ${span.durationNs}`;
  } else {
    tags['otel.scope.name'] = 'string "spanline"';
    tags['otel.scope.version'] = 'string "0.1.0"';
  }
  if (!isThrift || span.kind !== 'internal') tags['span.kind'] = `string "${span.kind}"`;
  if (code !== 'unset') tags['otel.status_code'] = `string "${code.toUpperCase()}"`;
  if (code === 'error') tags.error = 'bool true';
  if (code === 'error' && message) tags['otel.status_description'] = `string ${JSON.stringify(message)}`;
  if (span.trace.traceState) tags['w3c.tracestate'] = `string ${JSON.stringify(span.trace.traceState)}`;
  return tags;
};

const eventLog = (event: EventRecord, { isThrift }: Way) => ({
  timestamp: microseconds(event.timeUnixNs),
  fields: {
    event: `string ${JSON.stringify(event.name)}`,
    ...tagsOf(event.properties),
    ...(isThrift ? { 'spanline.ns': `int64 ${event.timeUnixNs % 1000n}` } : {}),
  },
});

const linkLogs = (span: SpanRecord): ShownSpan['logs'] =>
  span.links.flatMap(({ traceId, spanId, traceState, properties = {} }) => {
    if (!traceState && Object.keys(properties).length === 0) return [];
    const fields = {
      event: 'string "spanline.link"',
      'link.trace_id': `string "${traceId}"`,
      'link.span_id': `string "${spanId}"`,
      ...(traceState ? { 'w3c.tracestate': `string "${traceState}"` } : {}),
      ...tagsOf(properties),
    };
    return [{ timestamp: microseconds(span.startUnixNs), fields }];
  });

/** What Jaeger ought to show of a span, in our words and not in the encoders'. */
export const expectedSpan = (span: SpanRecord, resource: Resource, way: Way): ShownSpan => {
  const startTime = microseconds(span.startUnixNs);
  const end = way.isThrift ? microseconds(span.endUnixNs + 999n) : microseconds(span.endUnixNs);
  const { 'service.name': _, ...attributes } = resourceProperties(resource);
  const parent = span.parentSpanId === '' ? [] : [`CHILD_OF ${span.traceId} ${span.parentSpanId}`];
  return {
    name: span.name,
    references: [...parent, ...span.links.map(({ traceId, spanId }) => `FOLLOWS_FROM ${traceId} ${spanId}`)],
    startTime,
    duration: way.isThrift ? Math.max(1, end - startTime) : Math.floor(span.durationNs / 1000),
    tags: spanTags(span, way),
    logs: [...span.events.map((event) => eventLog(event, way)), ...(way.isThrift ? linkLogs(span) : [])],
    serviceName: resource.serviceName,
    processTags: tagsOf(way.isThrift ? resource.attributes : attributes),
    warnings: null,
  };
};

/** The warning that Jaeger puts on a span whose parent it does not have. */
export const orphanWarning = (parentSpanId: string): string =>
  `invalid parent span IDs=${parentSpanId}; skipping clock skew adjustment`;
