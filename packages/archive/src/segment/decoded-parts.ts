// Decodes the parts of a group, and says what they take in memory then. A part is added to segments here, in layout.ts and in
// write-segment.ts.

import { sectionReader } from '@spanline/graph/internal';
import type { ByteReader } from 'spanline/internal/base';
import type { Part } from './layout.js';
import { EventColumns, LinkColumns, SpanTexts } from './optional-parts.js';
import { PropertyBlock } from './properties.js';
import type { SegmentFile } from './segment-file.js';
import { SpanColumns } from './span-columns.js';
import { decodeTraceRows, type TraceRow } from './trace-rows.js';

/** What parts become. */
export interface DecodedParts {
  readonly traceRows: readonly TraceRow[];
  readonly spans: SpanColumns;
  readonly properties: PropertyBlock;
  readonly events: EventColumns;
  readonly links: LinkColumns;
  readonly texts: SpanTexts;
}

/** What decoding a part needs beside its bytes. */
export interface DecodeContext {
  readonly file: SegmentFile;
  readonly group: number;
  /** Of the group; empty while they are decoded. */
  readonly traceRows: readonly TraceRow[];
}

type Decode<P extends Part> = (bytes: Buffer, context: DecodeContext) => DecodedParts[P];

const whatOf = (part: Part, { file, group }: DecodeContext): string => `block ${group} of ${part} of ${file.name}`;

const readerOf = (part: Part, bytes: Buffer, context: DecodeContext): ByteReader =>
  sectionReader(bytes, whatOf(part, context), part, context.group);

const DECODERS: { readonly [P in Part]: Decode<P> } = {
  traceRows: (bytes, context) => {
    const { groups, models, tables } = context.file;
    const { group } = context;
    const shape = {
      spanCount: groups.spanCount(group),
      rowCount: groups.rowCounts[group],
      startUnixNs: groups.starts[group],
    };
    const { startUnit, unit, traceRows } = models;
    const shared = { models: traceRows, strings: tables.strings, startUnit, unit };
    return decodeTraceRows(bytes, shape, shared, whatOf('traceRows', context), group);
  },
  spans: (bytes, context) => {
    const { tables, models } = context.file;
    const { base, unit, resourceContext } = models;
    const shared = { tables, models: models.spans, base, unit, resourceContext };
    return new SpanColumns(bytes, spansIn(context), context.traceRows, shared, whatOf('spans', context), context.group);
  },
  properties: (bytes, context) => {
    const reader = readerOf('properties', bytes, context);
    const properties = PropertyBlock.read(reader, context.file.tables.strings, spansIn(context));
    reader.end();
    return properties;
  },
  events: (bytes, context) =>
    new EventColumns(readerOf('events', bytes, context), context.file.tables.strings, spansIn(context)),
  links: (bytes, context) =>
    new LinkColumns(readerOf('links', bytes, context), context.file.tables.strings, spansIn(context)),
  texts: (bytes, context) => new SpanTexts(readerOf('texts', bytes, context), spansIn(context)),
};

const spansIn = ({ file, group }: DecodeContext): number => file.groups.spanCount(group);

/** Decode a part. */
export const decodePart = <P extends Part>(part: P, bytes: Buffer, context: DecodeContext): DecodedParts[P] =>
  DECODERS[part](bytes, context);

/** Memory of a decoded part beside its bytes. */
const PART_BYTES = 512;
const TRACE_ROW_BYTES = 200;
/** Columns of objects take so many times their bytes. */
const OBJECT_FACTOR = 3;

/** What a decoded part takes in memory, about. */
export const memoryOf = (decoded: DecodedParts[Part], inflatedLength: number): number => {
  if (decoded instanceof SpanColumns) return PART_BYTES + decoded.memoryBytes;
  if (Array.isArray(decoded)) return PART_BYTES + decoded.length * TRACE_ROW_BYTES;
  return PART_BYTES + inflatedLength * OBJECT_FACTOR;
};
