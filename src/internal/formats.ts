// What packages beside the core use of the formats of traces: OTLP, Jaeger, Perfetto, the terminal.

export { nanosWords, toNanosWords } from '../base/bytes/byte-writer.js';
export {
  DECODE_LIMITS,
  type DecodedTraces,
  type DecodeLimits,
  describeRefusals,
  type KnownParts,
  newKnownParts,
  type RefusalReason,
} from '../formats/decode-context.js';
export { shownTraceId } from '../formats/jaeger-json/keys.js';
export { decodeJaegerJson } from '../formats/jaeger-json/read-traces.js';
export { MISSING_SERVICE, shownService, shownTrace } from '../formats/jaeger-json/shown-trace.js';
export { encodeJaegerJson, jaegerTrace } from '../formats/jaeger-json/write-traces.js';
export { ownResource } from '../formats/library.js';
export { decodeOtlpJson } from '../formats/otlp/read-json.js';
export { decodeOtlpProtobuf } from '../formats/otlp/read-protobuf.js';
export { encodeOtlpJson, otlpResourceSpans } from '../formats/otlp/write-json.js';
export { type PerfettoSpans, PerfettoWriter } from '../formats/perfetto/write-perfetto.js';
export { READ_FORMATS, type ReadFormat, readTraceDocument } from '../formats/read-document.js';
export { drawWaterfall, MIN_WIDTH } from '../formats/terminal/draw-waterfall.js';
export { ASCII, COLOURED, type Glyphs, glyphsOf, PLAIN } from '../formats/terminal/palette.js';
export { exactTime, formatBytes, formatDuration, shortTime } from '../formats/terminal/values.js';
export {
  type DocumentTrace,
  documentPieces,
  JAEGER_DOCUMENT,
  OTLP_DOCUMENT,
  OTLP_LINES,
  type TraceDocument,
} from '../formats/trace-documents.js';
export { TraceFormatError, type TraceFormatErrorCode, tooLarge } from '../formats/trace-format-error.js';
