// The entry `spanline/archive`: every public name of finished traces on disk, and nothing else. Importing it must load no optional package.

export {
  AbortedError,
  BadKeyError,
  BadOptionsError,
  BadSignatureError,
  BadValueError,
  ClosedError,
  CorruptError,
  GraphError,
  type GraphErrorCode,
  LimitError,
  TransportError,
  TruncatedError,
  UnsupportedVersionError,
} from '../container/graph-error.js';
export {
  type DecodedTraces,
  type DecodeLimits,
  describeRefusals,
  type RefusalReason,
} from '../formats/decode-context.js';
export { decodeJaegerJson } from '../formats/jaeger-json/read-traces.js';
export { encodeJaegerJson, jaegerTrace } from '../formats/jaeger-json/write-traces.js';
export { decodeOtlpJson } from '../formats/otlp/read-json.js';
export { decodeOtlpProtobuf } from '../formats/otlp/read-protobuf.js';
export { encodeOtlpJson, otlpResourceSpans } from '../formats/otlp/write-json.js';
export { TraceFormatError, type TraceFormatErrorCode } from '../formats/trace-format-error.js';
export { ArchivedDouble } from '../trace/archived-double.js';
export type {
  ArchivedEvent,
  ArchivedKind,
  ArchivedLink,
  ArchivedProperties,
  ArchivedResource,
  ArchivedScope,
  ArchivedSpan,
  ArchivedStatusCode,
  ArchivedValue,
  TraceSearch,
  TraceSummary,
} from '../trace/archived-span.js';
export { type TraceNode, traceTrees } from '../trace/tree.js';
export { Archive, type ArchiveCall } from './archive.js';
export {
  ARCHIVE_DEFAULTS,
  type ArchiveOptions,
  type ArchiveStats,
  type DamagedSegment,
  type Retention,
} from './archive-options.js';
export { ArchiveReporter } from './archive-reporter.js';
export { type LaneStretch, processOf } from './lane/lane-stretch.js';
export type { Operation } from './operations-of.js';
export {
  type OpenSegmentOptions,
  Segment,
  type SegmentReadOptions,
  type SegmentSearch,
  type SegmentStats,
} from './segment/segment.js';
export type { SegmentOperation, SegmentSummary } from './segment/segment-summary.js';
export { type SegmentInfo, type WriteSegmentOptions, writeSegment } from './segment/write-segment.js';
export { type ArchiveServer, type ArchiveServerStats, createArchiveServer } from './server/archive-server.js';
export type { ArchiveServerOptions } from './server/server-options.js';
