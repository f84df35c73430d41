// Reads the columns that every span has: shape, resource, status, start and duration. Times are decoded when they are asked for, since
// they need the parents of the spans; no number is believed that leads out of a table, nor a time that cannot be.

import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import { BitReader } from '../../../container/bits.js';
import { sectionReader } from '../../../container/section-reader.js';
import type { ArchivedResource } from '../../../trace/archived-span.js';
import { ESCAPE, NUMBER_SYMBOLS, takeNumber } from '../coding/number-symbols.js';
import { SymbolDecoder } from '../coding/symbol-stream.js';
import { NEAR_NS } from '../layout.js';
import { STATUS_CODES } from '../order/span-rows.js';
import { readResource, type Shape, type SpanTables, serviceOf } from '../tables/span-tables.js';
import { readTime } from './far-times.js';
import { type Base, SiblingTimes } from './sibling-times.js';
import type { ResourceContext, SpanModels } from './span-models.js';
import { BESIDE, readBeside } from './table-symbols.js';
import type { TraceRow } from './trace-rows.js';

/** What all groups of a segment share. */
export interface SpanContext {
  readonly tables: SpanTables;
  readonly models: SpanModels;
  readonly resourceContext: ResourceContext;
  readonly base: Base;
  readonly unit: number;
}

const LATEST = 0xffff_ffff_ffff_ffffn;

/** What decoding times gives. */
export interface SpanTimesRead {
  /** Unix nanoseconds. */
  readonly starts: BigUint64Array;
  readonly ends: BigUint64Array;
  /** Ordinals; -1 for none. */
  readonly parents: Float64Array;
}

/** The columns of a group as read; times are decoded when they are asked for. */
export class SpanColumns {
  private readonly resourceNumbers: Int32Array;
  private readonly shapeNumbers: Int32Array;
  private readonly shapeSymbols: Uint8Array;
  private readonly statuses: Uint8Array;
  /** What is in no table, by -1 less its number. */
  private readonly ownResources: ArchivedResource[] = [];
  private readonly ownShapes: Shape[] = [];
  private readonly reader: ByteReader;
  private times: SpanTimesRead | undefined;

  constructor(
    bytes: Buffer,
    private readonly spanCount: number,
    private readonly traceRows: readonly TraceRow[],
    private readonly context: SpanContext,
    what: string,
    block: number,
  ) {
    const { tables, models, resourceContext } = context;
    const reader = sectionReader(bytes, what, 'spans', block);
    this.reader = reader;
    this.resourceNumbers = new Int32Array(spanCount);
    this.shapeNumbers = new Int32Array(spanCount);
    this.shapeSymbols = new Uint8Array(spanCount);
    this.statuses = new Uint8Array(spanCount);
    const symbols = new SymbolDecoder(reader);
    const side = sectionReader(reader.raw(reader.varint()), what, 'spans', block);
    for (const { first, spanCount: spans } of traceRows) {
      let shape = 0;
      let resource = 0;
      for (let i = first; i < first + spans; i++) {
        const shapeSymbol = symbols.take(models.shape.table(shape));
        shape = 1 + shapeSymbol;
        const resourceSymbol = symbols.take(models.resource.table(resourceContext === 'shape' ? shape : resource));
        resource = 1 + resourceSymbol;
        this.statuses[i] = symbols.take(models.status.table(shape));
        this.shapeSymbols[i] = shapeSymbol;
        this.shapeNumbers[i] = this.numberOf(side, shapeSymbol, tables.shapes.length, () =>
          this.ownShapes.push(tables.readShape(side)),
        );
        this.resourceNumbers[i] = this.numberOf(side, resourceSymbol, tables.resources.length, () =>
          this.ownResources.push(readResource(side)),
        );
        if (this.statuses[i] >= STATUS_CODES.length) throw reader.corrupt('has a status that cannot be');
      }
    }
    symbols.end();
    side.end();
  }

  /** What it takes in memory, about. */
  get memoryBytes(): number {
    return 1024 + this.spanCount * (4 + 4 + 1 + 1 + 24) + this.reader.left + this.ownShapes.length * 200;
  }

  resource(span: number): ArchivedResource {
    const number = this.resourceNumbers[span];
    return number >= 0 ? this.context.tables.resources[number] : this.ownResources[-1 - number];
  }

  /** The service its resource names, '' for none. */
  service(span: number): string {
    const number = this.resourceNumbers[span];
    return number >= 0 ? this.context.tables.services[number] : serviceOf(this.ownResources[-1 - number]);
  }

  shape(span: number): Shape {
    const number = this.shapeNumbers[span];
    return number >= 0 ? this.context.tables.shapes[number] : this.ownShapes[-1 - number];
  }

  statusCode(span: number): (typeof STATUS_CODES)[number] {
    return STATUS_CODES[this.statuses[span]];
  }

  /** Times and parents, once they were decoded. */
  get known(): SpanTimesRead | undefined {
    return this.times;
  }

  /** Decode starts and ends. `parents` are ordinals, -1 for none; `first` is the ordinal of the first span. */
  decodeTimes(parents: Float64Array, first: number): SpanTimesRead {
    if (this.times !== undefined) return this.times;
    const { reader, spanCount, traceRows, context } = this;
    const { models, base, unit } = context;
    const at = reader.at;
    const symbols = new SymbolDecoder(reader);
    const farStart = reader.varint();
    const far = sectionReader(reader.raw(farStart), 'the far times of a group', 'spans');
    const bits = new BitReader(reader);
    const starts = new Float64Array(spanCount);
    const durations = new Float64Array(spanCount);
    const startTimes = new BigUint64Array(spanCount);
    const endTimes = new BigUint64Array(spanCount);
    const siblings = new SiblingTimes(spanCount, starts, durations);
    const wideUnit = BigInt(unit);
    const limit = NEAR_NS / unit;
    const numberOf = (symbol: number): number => {
      if (symbol >= NUMBER_SYMBOLS) throw reader.corrupt('has a number that cannot be');
      return takeNumber(bits, symbol);
    };
    for (const row of traceRows) {
      siblings.beginPiece(row.first);
      for (let i = row.first; i < row.first + row.spanCount; i++) {
        const spanContext = i === row.first ? 0 : 1 + this.shapeSymbols[i];
        const startSymbol = symbols.take(models.start.table(spanContext));
        const against = siblings.baseOf(i, parents[i] - first, base);
        if (startSymbol === ESCAPE) {
          starts[i] = Number.NaN;
          startTimes[i] = readTime(far);
        } else {
          starts[i] = against + numberOf(startSymbol);
          if (!(starts[i] >= 0 && starts[i] < limit)) throw reader.corrupt('has a start that cannot be');
          startTimes[i] = checkedTime(row.startUnixNs + BigInt(starts[i]) * wideUnit, reader);
        }
        const durationSymbol = symbols.take(models.duration.table(spanContext));
        if (durationSymbol === ESCAPE) {
          durations[i] = Number.NaN;
          endTimes[i] = readTime(far);
        } else {
          const value = numberOf(durationSymbol);
          durations[i] = i === row.first && !Number.isNaN(row.duration) ? row.duration - value : value;
          if (!(durations[i] >= 0 && durations[i] < limit)) throw reader.corrupt('has a duration that cannot be');
          endTimes[i] = checkedTime(startTimes[i] + BigInt(durations[i]) * wideUnit, reader);
        }
      }
    }
    symbols.end();
    far.end();
    bits.end();
    reader.end();
    reader.at = at;
    this.times = { starts: startTimes, ends: endTimes, parents };
    return this.times;
  }

  private numberOf(side: ByteReader, symbol: number, tableLength: number, readOwn: () => number): number {
    if (symbol !== BESIDE) {
      if (symbol >= tableLength) throw this.reader.corrupt('names an entry of a table that does not exist');
      return symbol;
    }
    const number = readBeside(side, tableLength);
    return number >= 0 ? number : -readOwn();
  }
}

const checkedTime = (time: bigint, reader: ByteReader): bigint => {
  if (time > LATEST) throw reader.corrupt('has a time that cannot be');
  return time;
};
