// What packages beside the core use of the formats of traces: OTLP, Jaeger, Perfetto, the terminal.
import * as jaegerKeys from '../formats/jaeger-json/keys.js';

export {
  byKeys,
  type JaegerTag,
  type Keyed,
  ORDER_KEY,
  REPEATED_KEY,
  together,
  toTag,
} from '../formats/jaeger-json/tags.js';
export { jaegerTrace, spanTags } from '../formats/jaeger-json/write-traces.js';
export { DURATION_KEY, LINK_EVENT, NANOSECONDS_KEY } from '../formats/jaeger-thrift/write-span.js';
export { ownResource } from '../formats/library.js';
export { KINDS, STATUS_CODES, TAGS } from '../formats/otlp/messages.js';
export { otlpResourceSpans } from '../formats/otlp/write-json.js';
export { type PerfettoSpans, PerfettoWriter } from '../formats/perfetto/write-perfetto.js';
export { COLOURED, type Glyphs, type Palette, PLAIN, UNICODE } from '../formats/terminal/palette.js';
export { type DrawnNode, drawTree, LEVEL_COLUMNS, type TreeRow, treeRows } from '../formats/terminal/trace-tree.js';
export {
  type Extent,
  formatDuration,
  formatLink,
  formatPairs,
  shortTime,
  sinceStart,
} from '../formats/terminal/values.js';
export {
  type DocumentTrace,
  documentPieces,
  JAEGER_DOCUMENT,
  OTLP_DOCUMENT,
  OTLP_LINES,
  type TraceDocument,
} from '../formats/trace-documents.js';
export { jaegerKeys };
