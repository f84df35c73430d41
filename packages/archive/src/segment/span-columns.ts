// The columns that every span has: shape, resource, status, start and duration.
//
//     spans = stream side:varint bytes[side] stream far:varint u64[far / 8] bits
//
// The first stream has shape, resource and status of each span, with the things that are in no table in `side`. The second has the times,
// with those that are too far to count in `far`, so that a search that looks at no time decodes none. A reader believes no number that leads
// out of a table, nor a time that cannot be.

import {
  BitReader,
  BitWriter,
  ESCAPE,
  NUMBER_SYMBOLS,
  putExtra,
  SymbolDecoder,
  SymbolEncoder,
  sectionReader,
  takeNumber,
} from '@spanline/graph/internal';
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import type { ArchivedResource } from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { MAX_TIME, readTime, STATUS_CODES, writeTime } from '../values/fields.js';
import { NEAR_NS } from './layout.js';
import type { ResourceContext, SpanModels, SpanSymbols } from './segment-models.js';
import type { SpanFacts } from './span-facts.js';
import {
  BESIDE,
  readBeside,
  readResource,
  type Shape,
  type SpanTables,
  serviceOf,
  writeBeside,
  writeResource,
} from './span-tables.js';
import { type Base, SiblingTimes, type SpanTimes } from './span-times.js';
import type { SpanOrder } from './trace-order.js';
import type { TraceRow } from './trace-rows.js';

/** Everything about spans that is written. */
interface SpanColumnsInput {
  readonly rows: SpanRows;
  readonly order: SpanOrder;
  readonly facts: SpanFacts;
  readonly symbols: SpanSymbols;
  readonly times: SpanTimes;
}

/** Writes the part of one group after the other; keeps its buffers. */
export class SpanColumnWriter {
  readonly #input: SpanColumnsInput;
  readonly #encoder = new SymbolEncoder();
  readonly #side = new ByteWriter();
  readonly #farTimes = new ByteWriter();
  readonly #extra = new ByteWriter();
  readonly #out = new ByteWriter(64 * 1024);

  constructor(input: SpanColumnsInput) {
    this.#input = input;
  }

  /** The part of spans `start` to `end`; `pieceFirsts` has the first of each piece and the end. Valid until the next call. */
  encode(pieceFirsts: readonly number[]): Buffer {
    const out = this.#out;
    const side = this.#side;
    const farTimes = this.#farTimes;
    const extra = this.#extra;
    for (const writer of [out, side, farTimes, extra]) writer.clear();
    this.#putShapes(pieceFirsts);
    this.#encoder.flush(out);
    out.varint(side.length);
    out.raw(side.view());
    this.#putTimes(pieceFirsts[0], pieceFirsts[pieceFirsts.length - 1]);
    this.#encoder.flush(out);
    out.varint(farTimes.length);
    out.raw(farTimes.view());
    out.raw(extra.view());
    return out.view();
  }

  #putShapes(pieceFirsts: readonly number[]): void {
    const encoder = this.#encoder;
    const side = this.#side;
    const { facts, symbols } = this.#input;
    const { tables } = facts;
    const { models } = symbols;
    for (let piece = 0; piece + 1 < pieceFirsts.length; piece++) {
      let shape = 0;
      let resource = 0;
      for (let i = pieceFirsts[piece]; i < pieceFirsts[piece + 1]; i++) {
        encoder.put(models.shape.table(shape), symbols.shapes[i]);
        shape = 1 + symbols.shapes[i];
        const resourceContext = symbols.resourceContext === 'shape' ? shape : resource;
        encoder.put(models.resource.table(resourceContext), symbols.resources[i]);
        resource = 1 + symbols.resources[i];
        encoder.put(models.status.table(shape), facts.statuses[i]);
        if (symbols.shapes[i] === BESIDE) {
          const number = facts.shapes[i];
          writeBeside(side, number, tables.shapes.length, () => tables.writeShape(side, facts.allShapes[number]));
        }
        if (symbols.resources[i] === BESIDE) {
          const number = facts.resources[i];
          writeBeside(side, number, tables.resources.length, () => writeResource(side, facts.allResources[number]));
        }
      }
    }
  }

  #putTimes(start: number, end: number): void {
    const encoder = this.#encoder;
    const farTimes = this.#farTimes;
    const { rows, order, symbols, times } = this.#input;
    const { starts, durations } = times;
    const bits = new BitWriter(this.#extra);
    for (let i = start; i < end; i++) {
      const context = symbols.timeContexts[i];
      const startSymbol = starts.symbols[i];
      encoder.put(starts.model.table(context), startSymbol);
      if (startSymbol === ESCAPE) writeTime(farTimes, rows.start.values[order.rows[i]]);
      else putExtra(bits, starts.values[i], startSymbol);
      const durationSymbol = durations.symbols[i];
      encoder.put(durations.model.table(context), durationSymbol);
      if (durationSymbol === ESCAPE) writeTime(farTimes, rows.end.values[order.rows[i]]);
      else putExtra(bits, durations.values[i], durationSymbol);
    }
    bits.flush();
  }
}

/** What all groups of a segment share. */
interface SpanContext {
  readonly tables: SpanTables;
  readonly models: SpanModels;
  readonly resourceContext: ResourceContext;
  readonly base: Base;
  readonly unit: number;
}

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
  readonly #spanCount: number;
  readonly #traceRows: readonly TraceRow[];
  readonly #context: SpanContext;
  readonly #resourceNumbers: Int32Array;
  readonly #shapeNumbers: Int32Array;
  readonly #shapeSymbols: Uint8Array;
  readonly #statuses: Uint8Array;
  /** What is in no table, by -1 less its number. */
  readonly #ownResources: ArchivedResource[] = [];
  readonly #ownShapes: Shape[] = [];
  readonly #reader: ByteReader;
  #times: SpanTimesRead | undefined;

  constructor(
    bytes: Buffer,
    spanCount: number,
    traceRows: readonly TraceRow[],
    context: SpanContext,
    what: string,
    block: number,
  ) {
    this.#spanCount = spanCount;
    this.#traceRows = traceRows;
    this.#context = context;
    const { tables, models, resourceContext } = context;
    const reader = sectionReader(bytes, what, 'spans', block);
    this.#reader = reader;
    this.#resourceNumbers = new Int32Array(spanCount);
    this.#shapeNumbers = new Int32Array(spanCount);
    this.#shapeSymbols = new Uint8Array(spanCount);
    this.#statuses = new Uint8Array(spanCount);
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
        this.#statuses[i] = symbols.take(models.status.table(shape));
        this.#shapeSymbols[i] = shapeSymbol;
        this.#shapeNumbers[i] = this.#numberOf(side, shapeSymbol, tables.shapes.length, () =>
          this.#ownShapes.push(tables.readShape(side)),
        );
        this.#resourceNumbers[i] = this.#numberOf(side, resourceSymbol, tables.resources.length, () =>
          this.#ownResources.push(readResource(side)),
        );
        if (this.#statuses[i] >= STATUS_CODES.length) throw reader.corrupt('has a status that cannot be');
      }
    }
    symbols.end();
    side.end();
  }

  /** What it takes in memory, about. */
  get memoryBytes(): number {
    return 1024 + this.#spanCount * (4 + 4 + 1 + 1 + 24) + this.#reader.left + this.#ownShapes.length * 200;
  }

  resource(span: number): ArchivedResource {
    const number = this.#resourceNumbers[span];
    return number >= 0 ? this.#context.tables.resources[number] : this.#ownResources[-1 - number];
  }

  /** The service its resource names, '' for none. */
  service(span: number): string {
    const number = this.#resourceNumbers[span];
    return number >= 0 ? this.#context.tables.services[number] : serviceOf(this.#ownResources[-1 - number]);
  }

  shape(span: number): Shape {
    const number = this.#shapeNumbers[span];
    return number >= 0 ? this.#context.tables.shapes[number] : this.#ownShapes[-1 - number];
  }

  statusCode(span: number): (typeof STATUS_CODES)[number] {
    return STATUS_CODES[this.#statuses[span]];
  }

  /** Times and parents, once they were decoded. */
  get known(): SpanTimesRead | undefined {
    return this.#times;
  }

  /** Decode starts and ends. `parents` are ordinals, -1 for none; `first` is the ordinal of the first span. */
  decodeTimes(parents: Float64Array, first: number): SpanTimesRead {
    if (this.#times !== undefined) return this.#times;
    const reader = this.#reader;
    const spanCount = this.#spanCount;
    const traceRows = this.#traceRows;
    const { models, base, unit } = this.#context;
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
        const spanContext = i === row.first ? 0 : 1 + this.#shapeSymbols[i];
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
    this.#times = { starts: startTimes, ends: endTimes, parents };
    return this.#times;
  }

  #numberOf(side: ByteReader, symbol: number, tableLength: number, readOwn: () => number): number {
    if (symbol !== BESIDE) {
      if (symbol >= tableLength) throw this.#reader.corrupt('names an entry of a table that does not exist');
      return symbol;
    }
    const number = readBeside(side, tableLength);
    return number >= 0 ? number : -readOwn();
  }
}

const checkedTime = (time: bigint, reader: ByteReader): bigint => {
  if (time > MAX_TIME) throw reader.corrupt('has a time that cannot be');
  return time;
};
