// How the numbers of a segment are coded: units, what starts are told against, and the shares of symbols.
import type { ByteReader } from '../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../base/bytes/byte-writer.js';
import { BASES, type Base } from './columns/sibling-times.js';
import {
  RESOURCE_CONTEXTS,
  type ResourceContext,
  readSpanModels,
  type SpanModels,
  writeSpanModels,
} from './columns/span-models.js';
import { UNITS } from './columns/span-times.js';
import { TraceRowModels } from './columns/trace-rows.js';
import type { SegmentPlan } from './segment-plan.js';

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

export const encodeModels = ({ times, symbols, startUnit }: SegmentPlan, traceRows: TraceRowModels): Buffer => {
  const writer = new ByteWriter();
  writer.byte(BASES.indexOf(times.base));
  writer.byte(UNITS.indexOf(times.unit));
  writer.byte(UNITS.indexOf(startUnit));
  writer.byte(RESOURCE_CONTEXTS.indexOf(symbols.resourceContext));
  writeSpanModels(writer, {
    resource: symbols.resourceModel,
    shape: symbols.shapeModel,
    status: symbols.statusModel,
    start: times.startModel,
    duration: times.durationModel,
  });
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
