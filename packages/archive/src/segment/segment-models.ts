// How the numbers of a segment are coded: units, what starts are told against, and the shares of symbols in each column.
//
//     models = base:byte unit:byte startUnit:byte resourceBy:byte model[shape, resource, status, start, duration] model[9, of traceRows]
//
// Two contexts of a resource are tried, the resource before and the shape; the one that takes fewer bits is kept.

import { MAX_CONTEXTS, SymbolCounts, SymbolModel } from '@spanline/graph/internal';
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import type { SpanFacts } from './span-facts.js';
import { tableSymbol } from './span-tables.js';
import { BASES, type Base, type SpanTimes, UNITS } from './span-times.js';
import { TraceRowModels } from './trace-rows.js';

/** What a resource is coded by; the place is its number in files. */
const RESOURCE_CONTEXTS = ['shape', 'resource before'] as const;
export type ResourceContext = (typeof RESOURCE_CONTEXTS)[number];

/** The models of a segment's span columns. */
export interface SpanModels {
  readonly shape: SymbolModel;
  readonly resource: SymbolModel;
  readonly status: SymbolModel;
  readonly start: SymbolModel;
  readonly duration: SymbolModel;
}

const MODELS = ['shape', 'resource', 'status', 'start', 'duration'] as const;

const readSpanModels = (reader: ByteReader): SpanModels => {
  const read = MODELS.map((name) => [name, SymbolModel.read(reader, MAX_CONTEXTS)] as const);
  return Object.fromEntries(read) as unknown as SpanModels;
};

/** Symbols by ordinal, and their models. */
export interface SpanSymbols {
  readonly shapes: Uint8Array;
  readonly resources: Uint8Array;
  /** Context of times: 0 for the first span of a piece, else one more than the symbol of its shape. */
  readonly timeContexts: Uint16Array;
  readonly resourceContext: ResourceContext;
  readonly models: Pick<SpanModels, 'shape' | 'resource' | 'status'>;
}

const tableSymbols = (numbers: Uint32Array, tableLength: number): Uint8Array => {
  const symbols = new Uint8Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) symbols[i] = tableSymbol(numbers[i], tableLength);
  return symbols;
};

/** Symbols and models of all spans; `pieceFirsts` has the first ordinal of each piece, and the end. */
export const codeSpans = (
  { tables, resources, shapes, statuses }: SpanFacts,
  pieceFirsts: readonly number[],
): SpanSymbols => {
  const shapeSymbols = tableSymbols(shapes, tables.shapes.length);
  const resourceSymbols = tableSymbols(resources, tables.resources.length);
  const timeContexts = new Uint16Array(shapes.length);
  const shapeCounts = new SymbolCounts(MAX_CONTEXTS);
  const resourceByShape = new SymbolCounts(MAX_CONTEXTS);
  const resourceByLast = new SymbolCounts(MAX_CONTEXTS);
  const statusCounts = new SymbolCounts(MAX_CONTEXTS);
  for (let piece = 0; piece + 1 < pieceFirsts.length; piece++) {
    let shape = 0;
    let resource = 0;
    for (let i = pieceFirsts[piece]; i < pieceFirsts[piece + 1]; i++) {
      shapeCounts.add(shape, shapeSymbols[i]);
      shape = 1 + shapeSymbols[i];
      resourceByShape.add(shape, resourceSymbols[i]);
      resourceByLast.add(resource, resourceSymbols[i]);
      resource = 1 + resourceSymbols[i];
      statusCounts.add(shape, statuses[i]);
      timeContexts[i] = i === pieceFirsts[piece] ? 0 : shape;
    }
  }
  const byShape = SymbolModel.of(resourceByShape);
  const byLast = SymbolModel.of(resourceByLast);
  return {
    shapes: shapeSymbols,
    resources: resourceSymbols,
    timeContexts,
    resourceContext: byShape.bits <= byLast.bits ? 'shape' : 'resource before',
    models: {
      shape: SymbolModel.of(shapeCounts),
      resource: byShape.bits <= byLast.bits ? byShape : byLast,
      status: SymbolModel.of(statusCounts),
    },
  };
};

/** As read. */
export interface SegmentModels {
  readonly base: Base;
  /** Nanoseconds of a unit, and of one in which starts of traces are told. */
  readonly unit: number;
  readonly startUnit: number;
  readonly resourceContext: ResourceContext;
  readonly spans: SpanModels;
  readonly traceRows: TraceRowModels;
}

/** As planned; `startUnit` as in `SegmentModels`. */
interface PlannedModels {
  readonly times: SpanTimes;
  readonly symbols: SpanSymbols;
  readonly startUnit: number;
}

export const encodeModels = ({ times, symbols, startUnit }: PlannedModels, traceRows: TraceRowModels): Buffer => {
  const writer = new ByteWriter();
  writer.byte(BASES.indexOf(times.base));
  writer.byte(UNITS.indexOf(times.unit));
  writer.byte(UNITS.indexOf(startUnit));
  writer.byte(RESOURCE_CONTEXTS.indexOf(symbols.resourceContext));
  const models: SpanModels = { ...symbols.models, start: times.starts.model, duration: times.durations.model };
  for (const name of MODELS) models[name].write(writer);
  traceRows.write(writer);
  return Buffer.from(writer.view());
};

export const decodeModels = (reader: ByteReader): SegmentModels => {
  const base = BASES[reader.byte()];
  const unit = UNITS[reader.byte()];
  const startUnit = UNITS[reader.byte()];
  const resourceContext = RESOURCE_CONTEXTS[reader.byte()];
  if (base === undefined || unit === undefined || startUnit === undefined || resourceContext === undefined) {
    throw reader.corrupt('has an unknown form');
  }
  const spans = readSpanModels(reader);
  const traceRows = TraceRowModels.read(reader);
  reader.end();
  return { base, unit, startUnit, resourceContext, spans, traceRows };
};
