// The fields of OTLP's messages as protobuf writes them: the one list that reader and writer share. A further field of a span is a line here and
// one in each of them. Source: opentelemetry-proto, trace/v1, resource/v1, common/v1.
import { BYTES, FIXED32, FIXED64, tag, VARINT } from './protobuf-writer.js';

/** ExportTraceServiceRequest and TracesData */
export const RESOURCE_SPANS = tag(1, BYTES);
/** ResourceSpans */
export const RESOURCE = tag(1, BYTES);
export const SCOPE_SPANS = tag(2, BYTES);
/** ScopeSpans */
export const SCOPE = tag(1, BYTES);
export const SPANS = tag(2, BYTES);
/** Of ResourceSpans and of ScopeSpans. */
export const SCHEMA_URL = tag(3, BYTES);
/** Resource */
export const RESOURCE_ATTRIBUTES = tag(1, BYTES);
export const RESOURCE_DROPPED = tag(2, VARINT);
/** InstrumentationScope */
export const SCOPE_NAME = tag(1, BYTES);
export const SCOPE_VERSION = tag(2, BYTES);
export const SCOPE_ATTRIBUTES = tag(3, BYTES);
export const SCOPE_DROPPED = tag(4, VARINT);
/** Span */
export const TRACE_ID = tag(1, BYTES);
export const SPAN_ID = tag(2, BYTES);
export const TRACE_STATE = tag(3, BYTES);
export const PARENT_SPAN_ID = tag(4, BYTES);
export const NAME = tag(5, BYTES);
export const KIND = tag(6, VARINT);
export const START = tag(7, FIXED64);
export const END = tag(8, FIXED64);
export const ATTRIBUTES = tag(9, BYTES);
export const DROPPED_ATTRIBUTES = tag(10, VARINT);
export const EVENTS = tag(11, BYTES);
export const DROPPED_EVENTS = tag(12, VARINT);
export const LINKS = tag(13, BYTES);
export const DROPPED_LINKS = tag(14, VARINT);
export const STATUS = tag(15, BYTES);
/** Its tag takes two bytes. */
export const FLAGS = tag(16, FIXED32);
/** Event */
export const EVENT_TIME = tag(1, FIXED64);
export const EVENT_NAME = tag(2, BYTES);
export const EVENT_ATTRIBUTES = tag(3, BYTES);
export const EVENT_DROPPED = tag(4, VARINT);
/** Link: ids and trace state as in Span. */
export const LINK_ATTRIBUTES = tag(4, BYTES);
export const LINK_DROPPED = tag(5, VARINT);
export const LINK_FLAGS = tag(6, FIXED32);
/** Status */
export const STATUS_MESSAGE = tag(2, BYTES);
export const STATUS_CODE = tag(3, VARINT);
/** KeyValue */
export const KEY = tag(1, BYTES);
export const VALUE = tag(2, BYTES);
/** AnyValue */
export const STRING_VALUE = tag(1, BYTES);
export const BOOL_VALUE = tag(2, VARINT);
export const INT_VALUE = tag(3, VARINT);
export const DOUBLE_VALUE = tag(4, FIXED64);
export const ARRAY_VALUE = tag(5, BYTES);
export const KEY_VALUE_LIST = tag(6, BYTES);
export const BYTES_VALUE = tag(7, BYTES);
/** ArrayValue and KeyValueList */
export const VALUES = tag(1, BYTES);
