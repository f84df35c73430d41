// The rows of traces: what is known of each without its spans. A trace that was cut has a row for the piece in each of its groups.
//
//     traceRows = stream side:varint bytes[side] bits
//
// Each row has nine symbols, in the order of COLUMNS; what the tables or a number cannot hold stands in `side`. Before the bits of its numbers stands its
// mark, the end of the id of its trace: by that the row of a trace is found without its keys, and now and then one of another.

import {
  BitReader,
  BitWriter,
  ESCAPE,
  NUMBER_SYMBOLS,
  putExtra,
  SymbolCounts,
  SymbolDecoder,
  SymbolEncoder,
  SymbolModel,
  sectionReader,
  symbolOf,
  takeNumber,
} from '@spanline/graph/internal';
import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import { MAX_TIME, readTime, writeTime } from '../values/fields.js';
import { readText, writeText } from '../values/values.js';
import { MAX_GROUP_SPANS } from './layout.js';
import { BESIDE, readBeside, type StringTable, tableSymbol, writeBeside } from './span-tables.js';

/** Numbers of a row that are entropy coded, in this order; each has a model of its own. */
const COLUMNS = ['spans', 'start', 'duration', 'errors', 'size', 'skipped', 'complete', 'name', 'service'] as const;
type Column = (typeof COLUMNS)[number];

/** In one search of 256 the mark of a trace is also that of another of the group. */
const MARK_BITS = 8;

const markBits = (rowCount: number): number => MARK_BITS + 32 - Math.clz32(rowCount - 1);

/** The mark of a trace in a group of so many rows, by the last word of its id. */
export const markOf = (lastWord: number, rowCount: number): number => lastWord % 2 ** markBits(rowCount);

/** A row to write. */
export interface PieceRow {
  /** Of the id of its trace. */
  readonly lastWord: number;
  readonly spanCount: number;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** From the first start of the group, and to the end, in the segment's units; NaN when too far. */
  readonly start: number;
  readonly duration: number;
  readonly errorCount: number;
  readonly bytes: number;
  /** Keys between those of the row before and those of this one. */
  readonly skipped: number;
  readonly isComplete: boolean;
  readonly name: string;
  readonly service: string;
}

/** Sizes are kept to an eighth: the highest four bits and how many follow. */
const coarse = (bytes: number): number => {
  let shift = 0;
  while (Math.ceil(bytes / 2 ** shift) > 15) shift++;
  return shift * 16 + Math.ceil(bytes / 2 ** shift);
};
const fromCoarse = (code: number): number => (code % 16) * 2 ** Math.floor(code / 16);

const numbersOf = (row: PieceRow, strings: StringTable): readonly number[] => [
  row.spanCount,
  row.start,
  row.duration,
  row.errorCount,
  coarse(row.bytes),
  row.skipped,
  row.isComplete ? 1 : 0,
  strings.numberOf(row.name),
  strings.numberOf(row.service),
];

const isText = (column: Column): boolean => column === 'name' || column === 'service';

const symbolIn = (column: Column, number: number, texts: number): number => {
  if (isText(column)) return number < 0 ? BESIDE : tableSymbol(number, texts);
  return Number.isNaN(number) ? ESCAPE : symbolOf(number);
};

/** The models of all rows of a segment. */
export class TraceRowModels {
  private constructor(readonly models: readonly SymbolModel[]) {}

  static of(rows: Iterable<PieceRow>, strings: StringTable): TraceRowModels {
    const counts = COLUMNS.map(() => new SymbolCounts(1));
    for (const row of rows) {
      const numbers = numbersOf(row, strings);
      COLUMNS.forEach((column, c) => {
        counts[c].add(0, symbolIn(column, numbers[c], strings.texts.length));
      });
    }
    return new TraceRowModels(counts.map((count) => SymbolModel.of(count)));
  }

  write(writer: ByteWriter): void {
    for (const model of this.models) model.write(writer);
  }

  static read(reader: ByteReader): TraceRowModels {
    return new TraceRowModels(COLUMNS.map(() => SymbolModel.read(reader, 1)));
  }
}

/** The part of a group. */
export const encodeTraceRows = (rows: readonly PieceRow[], models: TraceRowModels, strings: StringTable): Buffer => {
  const symbols = new SymbolEncoder();
  const side = new ByteWriter();
  const extra = new ByteWriter();
  const bits = new BitWriter(extra);
  for (const row of rows) {
    bits.put(markOf(row.lastWord, rows.length), markBits(rows.length));
    const numbers = numbersOf(row, strings);
    COLUMNS.forEach((column, c) => {
      const symbol = symbolIn(column, numbers[c], strings.texts.length);
      symbols.put(models.models[c].table(0), symbol);
      if (isText(column)) {
        if (symbol !== BESIDE) return;
        writeBeside(side, numbers[c], strings.texts.length, () =>
          writeText(side, column === 'name' ? row.name : row.service),
        );
      } else if (symbol !== ESCAPE) putExtra(bits, numbers[c], symbol);
      else writeTime(side, column === 'start' ? row.startUnixNs : row.endUnixNs);
    });
  }
  bits.flush();
  const writer = new ByteWriter();
  symbols.flush(writer);
  writer.varint(side.length);
  writer.raw(side.view());
  writer.raw(extra.view());
  return Buffer.from(writer.view());
};

/** A row as read. */
export interface TraceRow {
  /** Of its trace, by `markOf`; others may have it too. */
  readonly mark: number;
  /** Its first span, counted from the first of the group. */
  readonly first: number;
  readonly spanCount: number;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** In the segment's units; NaN when too far. */
  readonly duration: number;
  readonly errorCount: number;
  readonly bytes: number;
  /** Rank of its first key, counted from that of the group's first row. */
  readonly rank: number;
  readonly isComplete: boolean;
  readonly name: string;
  readonly service: string;
}

/** What a group is known to have. */
interface GroupShape {
  readonly spanCount: number;
  readonly rowCount: number;
  readonly startUnixNs: bigint;
}

/** What all rows of a segment share. */
interface TraceRowContext {
  readonly models: TraceRowModels;
  readonly strings: StringTable;
  /** Nanoseconds of a unit of starts, and of durations. */
  readonly startUnit: number;
  readonly unit: number;
}

/** The rows of group `group`. */
export const decodeTraceRows = (
  bytes: Uint8Array,
  group: GroupShape,
  { models, strings, startUnit, unit }: TraceRowContext,
  what: string,
  block: number,
): TraceRow[] => {
  const reader = sectionReader(bytes, what, 'traceRows', block);
  const symbols = new SymbolDecoder(reader);
  const side = sectionReader(reader.raw(reader.varint()), what, 'traceRows', block);
  const bits = new BitReader(reader);
  const numberOf = (column: number): number => {
    const symbol = symbols.take(models.models[column].table(0));
    if (symbol < NUMBER_SYMBOLS) return takeNumber(bits, symbol);
    if (symbol === ESCAPE) return Number.NaN;
    throw reader.corrupt('has a number that cannot be');
  };
  const countOf = (column: number): number => {
    const count = numberOf(column);
    if (!(count >= 0)) throw reader.corrupt('has a count below zero');
    return count;
  };
  const textOf = (column: number): string => {
    const symbol = symbols.take(models.models[column].table(0));
    if (symbol !== BESIDE) return strings.texts[symbol] ?? fail('names a text that does not exist');
    const number = readBeside(side, strings.texts.length);
    return number < 0 ? readText(side) : strings.texts[number];
  };
  const fail = (reason: string): never => {
    throw reader.corrupt(reason);
  };
  const rows: TraceRow[] = [];
  let first = 0;
  let rank = 0;
  for (let i = 0; i < group.rowCount; i++) {
    const mark = bits.take(markBits(group.rowCount));
    const spanCount = countOf(0);
    if (spanCount === 0 || spanCount > MAX_GROUP_SPANS) throw reader.corrupt(`has a trace of ${spanCount} spans`);
    const start = numberOf(1);
    const startUnixNs = Number.isNaN(start) ? readTime(side) : group.startUnixNs + BigInt(start) * BigInt(startUnit);
    const duration = numberOf(2);
    const endUnixNs = Number.isNaN(duration) ? readTime(side) : startUnixNs + BigInt(duration) * BigInt(unit);
    if (startUnixNs < 0n || endUnixNs < startUnixNs || endUnixNs > MAX_TIME)
      throw reader.corrupt('has a time that cannot be');
    const errorCount = countOf(3);
    const size = countOf(4);
    const skipped = countOf(5);
    const isComplete = countOf(6) === 1;
    rank += skipped;
    rows.push({
      mark,
      first,
      spanCount,
      startUnixNs,
      endUnixNs,
      duration,
      errorCount,
      bytes: fromCoarse(size),
      rank,
      isComplete,
      name: textOf(7),
      service: textOf(8),
    });
    first += spanCount;
    rank += spanCount;
  }
  if (first !== group.spanCount) throw reader.corrupt('has other spans than its group');
  symbols.end();
  side.end();
  bits.end();
  reader.end();
  return rows;
};
