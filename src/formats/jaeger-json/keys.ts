// The tags that stand for what Jaeger's format has no fields for. Those of OpenTelemetry and Jaeger where they have one, else the ones our
// exporters use. Where a property has the same key, the property comes first and the tag that stands for a field last.

export const KIND = 'span.kind';
export const STATUS_CODE = 'otel.status_code';
export const STATUS_MESSAGE = 'otel.status_description';
export const ERROR = 'error';
export const TRACE_STATE = 'w3c.tracestate';
export const SCOPE_NAME = 'otel.scope.name';
export const SCOPE_VERSION = 'otel.scope.version';
/** Before the key of a property of the scope. */
export const SCOPE_PROPERTY = 'otel.scope.attributes.';
/** Says which reference a link was, when it was no FOLLOWS_FROM, and which one the parent was, when it was no CHILD_OF. */
export const REFERENCE_TYPE = 'opentracing.ref_type';
export const FOLLOWS_FROM = 'follows_from';

/** In a log of an event: its name. In a log of a link: LINK_EVENT. */
export const EVENT = 'event';
export const LINK_TRACE_ID = 'link.trace_id';
export const LINK_SPAN_ID = 'link.span_id';

/** What Jaeger's format has of a span or of its trace, and no other format: the flags of a span, remarks on a trace. */
export const FLAGS = '@jaeger@flags';
export const TRACE_WARNINGS = '@jaeger@trace_warnings';

export const SERVICE_NAME = 'service.name';
