// Writes the columns that every span has: shape, resource, status, start and duration. Two streams of symbols, so that a search that
// looks at no time decodes none.

import { ByteWriter } from '../../../base/bytes/byte-writer.js';
import { BitWriter } from '../../../container/bits.js';
import { ESCAPE, putExtra } from '../coding/number-symbols.js';
import { SymbolEncoder } from '../coding/symbol-stream.js';
import type { SpanRows } from '../order/span-rows.js';
import type { SpanOrder } from '../order/trace-order.js';
import type { SpanFacts } from '../tables/span-facts.js';
import { writeResource } from '../tables/span-tables.js';
import { writeTime } from './far-times.js';
import type { SpanSymbols } from './span-models.js';
import type { SpanTimes } from './span-times.js';
import { BESIDE, writeBeside } from './table-symbols.js';

/** Everything about spans that is written. */
export interface SpanColumnsInput {
  readonly rows: SpanRows;
  readonly order: SpanOrder;
  readonly facts: SpanFacts;
  readonly symbols: SpanSymbols;
  readonly times: SpanTimes;
}

/** Writes the part of one group after the other; keeps its buffers. */
export class SpanColumnWriter {
  private readonly encoder = new SymbolEncoder();
  private readonly side = new ByteWriter();
  private readonly farTimes = new ByteWriter();
  private readonly extra = new ByteWriter();
  private readonly out = new ByteWriter(64 * 1024);

  constructor(private readonly input: SpanColumnsInput) {}

  /** The part of spans `start` to `end`; `pieceFirsts` has the first of each piece and the end. Valid until the next call. */
  encode(pieceFirsts: readonly number[]): Buffer {
    const { encoder, out, side, farTimes, extra } = this;
    for (const writer of [out, side, farTimes, extra]) writer.clear();
    this.putShapes(pieceFirsts);
    encoder.flush(out);
    out.varint(side.length);
    out.raw(side.view());
    this.putTimes(pieceFirsts[0], pieceFirsts[pieceFirsts.length - 1]);
    encoder.flush(out);
    out.varint(farTimes.length);
    out.raw(farTimes.view());
    out.raw(extra.view());
    return out.view();
  }

  private putShapes(pieceFirsts: readonly number[]): void {
    const { encoder, side } = this;
    const { facts, symbols } = this.input;
    const { tables } = facts;
    for (let piece = 0; piece + 1 < pieceFirsts.length; piece++) {
      let shape = 0;
      let resource = 0;
      for (let i = pieceFirsts[piece]; i < pieceFirsts[piece + 1]; i++) {
        encoder.put(symbols.shapeModel.table(shape), symbols.shapes[i]);
        shape = 1 + symbols.shapes[i];
        const resourceContext = symbols.resourceContext === 'shape' ? shape : resource;
        encoder.put(symbols.resourceModel.table(resourceContext), symbols.resources[i]);
        resource = 1 + symbols.resources[i];
        encoder.put(symbols.statusModel.table(shape), facts.statuses[i]);
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

  private putTimes(start: number, end: number): void {
    const { encoder, farTimes } = this;
    const { rows, order, symbols, times } = this.input;
    const bits = new BitWriter(this.extra);
    for (let i = start; i < end; i++) {
      const context = symbols.timeContexts[i];
      const startSymbol = times.startSymbols[i];
      encoder.put(times.startModel.table(context), startSymbol);
      if (startSymbol === ESCAPE) writeTime(farTimes, rows.start.values[order.rows[i]]);
      else putExtra(bits, times.startValues[i], startSymbol);
      const durationSymbol = times.durationSymbols[i];
      encoder.put(times.durationModel.table(context), durationSymbol);
      if (durationSymbol === ESCAPE) writeTime(farTimes, rows.end.values[order.rows[i]]);
      else putExtra(bits, times.durationValues[i], durationSymbol);
    }
    bits.flush();
  }
}
