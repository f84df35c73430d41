// The entry `@spanline/archive`: every public name of finished traces on disk, and nothing else. Importing it must load no optional package.

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
} from '@spanline/graph';
export { jaegerTrace, otlpResourceSpans } from 'spanline/internal/formats';
export {
  ArchivedDouble,
  type ArchivedEvent,
  type ArchivedKind,
  type ArchivedLink,
  type ArchivedProperties,
  type ArchivedResource,
  type ArchivedScope,
  type ArchivedSpan,
  type ArchivedStatusCode,
  type ArchivedValue,
} from 'spanline/internal/record';
export { Archive, type ArchiveCall } from './archive.js';
export {
  ARCHIVE_DEFAULTS,
  type ArchiveOptions,
  type ArchiveStats,
  type BucketOptions,
  type BucketStats,
  type DamagedSegment,
  type MaintenanceStats,
  type Retention,
} from './archive-options.js';
export { ArchiveReporter } from './archive-reporter.js';
export type { BucketErrorCode } from './bucket/bucket-error.js';
export type { ObjectStoreOptions } from './bucket/object-store.js';
export {
  type DecodedTraces,
  type DecodeLimits,
  describeRefusals,
  type RefusalReason,
} from './formats/decode-context.js';
export { encodeJaegerJson, encodeOtlpJson } from './formats/encode.js';
export { decodeJaegerJson } from './formats/jaeger-json/read-traces.js';
export { decodeOtlpJson } from './formats/otlp/read-json.js';
export { decodeOtlpProtobuf } from './formats/otlp/read-protobuf.js';
export { TraceFormatError, type TraceFormatErrorCode } from './formats/trace-format-error.js';
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
export { processOf, type TimelineStretch } from './timeline/timeline-files.js';
export type { TraceSearch, TraceSummary } from './trace-search.js';
export type { Operation } from './trace-source.js';
export { type TraceNode, traceTrees } from './trace-trees.js';
