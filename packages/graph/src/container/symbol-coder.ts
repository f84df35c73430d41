// An entropy coder of bytes: a range variant of asymmetric numeral systems (Duda 2009, "Asymmetric numeral systems"; the 32-bit state with 16-bit
// words is Giesen's, 2014, "Interleaved entropy coders"). A symbol takes the logarithm of its share, to a hundredth of a bit.
//
//     stream      = words:varint state:u32 word:u16[words]
//     symbolTable = n:varint symbol:byte[n] share:varint[n]       symbols ascend; shares add up to 4096
//
// A whole number is a symbol, for its sign, its highest bit and the next, and the bits below, which are as good as random and are kept as they are. A
// table read from a file is checked to add up before a symbol is decoded by it. A reader must end in the state the writer began with: anything else
// is damage. Nothing here rounds.

import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import type { BitReader, BitWriter } from './bits.js';

/** Numbers are from -2^53 + 1 to 2^53 - 1; what is beyond is written elsewhere under this symbol. */
export const ESCAPE = 255;

/** Symbols of numbers are below this. */
export const NUMBER_SYMBOLS = 211;

const LOW_BITS = 26;
const LOW = 2 ** LOW_BITS;

const highestBit = (magnitude: number): number =>
  magnitude < 2 ** 32 ? 31 - Math.clz32(magnitude) : 63 - Math.clz32(magnitude / 2 ** 32);

/** The symbol of a number. */
export const symbolOf = (value: number): number => {
  if (value === 0) return 0;
  const magnitude = value < 0 ? -value : value;
  const sign = value < 0 ? 1 : 0;
  const high = highestBit(magnitude);
  if (high === 0) return 1 + sign;
  const next = high > 31 ? Math.floor(magnitude / 2 ** (high - 1)) & 1 : (magnitude >>> (high - 1)) & 1;
  return 1 + 2 * (2 * high - 1 + next) + sign;
};

/** Bits that follow a symbol of a number. */
export const extraBits = (symbol: number): number => (symbol < 3 ? 0 : ((((symbol - 1) >>> 1) + 1) >>> 1) - 1);

/** Write the bits of `value` that `symbol`, its own, leaves open. */
export const putExtra = (bits: BitWriter, value: number, symbol: number): void => {
  const count = extraBits(symbol);
  if (count === 0) return;
  const magnitude = value < 0 ? -value : value;
  if (count <= LOW_BITS) {
    // The bits wanted are among the low 32, which is all that a conversion keeps.
    bits.put(magnitude & ((1 << count) - 1), count);
    return;
  }
  bits.put(magnitude % LOW, LOW_BITS);
  bits.put(Math.floor(magnitude / LOW) % 2 ** (count - LOW_BITS), count - LOW_BITS);
};

/** The number of a symbol below `NUMBER_SYMBOLS`. */
export const takeNumber = (bits: BitReader, symbol: number): number => {
  if (symbol === 0) return 0;
  const isNegative = (symbol & 1) === 0;
  const step = (symbol - 1) >>> 1;
  const high = (step + 1) >>> 1;
  let magnitude = 1;
  if (high > 0) {
    const count = high - 1;
    const lead = 2 + (step - (2 * high - 1));
    const rest = count <= LOW_BITS ? bits.take(count) : bits.take(LOW_BITS) + bits.take(count - LOW_BITS) * LOW;
    magnitude = lead * 2 ** count + rest;
  }
  return isNegative ? -magnitude : magnitude;
};

const SCALE_BITS = 12;
/** What the shares of a table add up to. */
const SCALE = 2 ** SCALE_BITS;
/** Symbols are bytes. */
const SYMBOLS = 256;

/** Shares of symbols, by ascending symbol. */
class SymbolTable {
  /** Place of each symbol in `symbols`, for writers. */
  #places: Uint8Array | undefined;

  constructor(
    readonly symbols: Uint8Array,
    /** Where the share of each symbol starts; one more than there are symbols, the last is `SCALE`. */
    readonly starts: Uint16Array,
  ) {}

  /** Shares by counts, at least one of which is not 0. */
  static of(counts: ArrayLike<number>, offset = 0): SymbolTable {
    const symbols: number[] = [];
    let total = 0;
    for (let symbol = 0; symbol < SYMBOLS; symbol++) {
      if (counts[offset + symbol] === 0) continue;
      symbols.push(symbol);
      total += counts[offset + symbol];
    }
    const shares = symbols.map((symbol) => Math.max(1, Math.floor((counts[offset + symbol] * SCALE) / total)));
    let rest = SCALE - shares.reduce((sum, share) => sum + share, 0);
    // What rounding left or took goes to the most frequent ones, which feel it least.
    const byShare = [...shares.keys()].sort((a, b) => shares[b] - shares[a] || a - b);
    for (let i = 0; rest !== 0; i = (i + 1) % byShare.length) {
      const place = byShare[i];
      const change = rest > 0 ? rest : -Math.min(-rest, Math.floor(shares[place] / 2));
      shares[place] += change;
      rest -= change;
    }
    const starts = new Uint16Array(symbols.length + 1);
    shares.forEach((share, i) => {
      starts[i + 1] = starts[i] + share;
    });
    return new SymbolTable(Uint8Array.from(symbols), starts);
  }

  /** The place of a symbol that is there. */
  placeOf(symbol: number): number {
    if (this.#places === undefined) {
      this.#places = new Uint8Array(SYMBOLS);
      for (let i = 0; i < this.symbols.length; i++) this.#places[this.symbols[i]] = i;
    }
    return this.#places[symbol];
  }

  write(writer: ByteWriter): void {
    const { symbols, starts } = this;
    writer.varint(symbols.length);
    for (let i = 0; i < symbols.length; i++) writer.byte(symbols[i]);
    for (let i = 0; i < symbols.length; i++) writer.varint(starts[i + 1] - starts[i]);
  }

  static read(reader: ByteReader): SymbolTable {
    const count = reader.varint();
    if (count > SYMBOLS) throw reader.corrupt('has a table of too many symbols');
    const symbols = Uint8Array.from(reader.raw(count));
    for (let i = 1; i < count; i++) {
      if (symbols[i] <= symbols[i - 1]) throw reader.corrupt('has a table whose symbols do not ascend');
    }
    const starts = new Uint16Array(count + 1);
    for (let i = 0; i < count; i++) {
      const share = reader.varint();
      if (share === 0 || share > SCALE - starts[i]) throw reader.corrupt('has a table whose shares do not add up');
      starts[i + 1] = starts[i] + share;
    }
    if (count > 0 && starts[count] !== SCALE) throw reader.corrupt('has a table whose shares do not add up');
    return new SymbolTable(symbols, starts);
  }
}

const LOWEST = 2 ** 16;
const WORD = 2 ** 16;
/** A share of 1 may hold states up to this; a share of n, n times as many. */
const STATES_PER_SHARE = 2 ** (32 - SCALE_BITS);

/** Takes symbols in reading order; `flush` writes them. */
export class SymbolEncoder {
  #steps = new Uint32Array(4096);
  #count = 0;
  #words = new Uint16Array(4096);

  /** A symbol that `table` has. */
  put(table: SymbolTable, symbol: number): void {
    const place = table.placeOf(symbol);
    const start = table.starts[place];
    const share = table.starts[place + 1] - start;
    // A symbol that is certain takes nothing.
    if (share === SCALE) return;
    if (this.#count === this.#steps.length) {
      const larger = new Uint32Array(this.#count * 2);
      larger.set(this.#steps);
      this.#steps = larger;
    }
    this.#steps[this.#count++] = (share << SCALE_BITS) | start;
  }

  /** Write what was put since the last flush. */
  flush(writer: ByteWriter): void {
    const steps = this.#steps;
    const count = this.#count;
    if (this.#words.length < count) this.#words = new Uint16Array(steps.length);
    const words = this.#words;
    let wordCount = 0;
    let state = LOWEST;
    // Backwards: a reader takes off last what was put on last.
    for (let i = count - 1; i >= 0; i--) {
      const share = steps[i] >>> SCALE_BITS;
      const start = steps[i] & (SCALE - 1);
      if (state >= share * STATES_PER_SHARE) {
        words[wordCount++] = state % WORD;
        state = Math.floor(state / WORD);
      }
      const quotient = Math.floor(state / share);
      state = quotient * SCALE + (state - quotient * share) + start;
    }
    this.#count = 0;
    writer.varint(wordCount);
    writer.uint32(state);
    for (let i = wordCount - 1; i >= 0; i--) {
      writer.byte(words[i] & 0xff);
      writer.byte(words[i] >>> 8);
    }
  }
}

/** Reads symbols where `reader` stands, and moves it behind them at once. */
export class SymbolDecoder {
  readonly #reader: ByteReader;
  readonly #words: Uint8Array;
  #at = 0;
  #state: number;

  constructor(reader: ByteReader) {
    this.#reader = reader;
    const wordCount = reader.varint();
    this.#state = reader.uint32();
    if (wordCount * 2 > reader.left) throw reader.corrupt('is too short for its symbols');
    this.#words = reader.raw(wordCount * 2);
  }

  take({ symbols, starts }: SymbolTable): number {
    let [low, high] = [0, symbols.length];
    if (high <= 1) {
      if (high === 1) return symbols[0];
      throw this.#reader.corrupt('has a symbol where none can be');
    }
    let state = this.#state;
    const slot = state & (SCALE - 1);
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle] <= slot) low = middle;
      else high = middle;
    }
    state = (starts[low + 1] - starts[low]) * Math.floor(state / SCALE) + slot - starts[low];
    if (state < LOWEST) {
      if (this.#at === this.#words.length) throw this.#reader.corrupt('ends in the middle of its symbols');
      state = state * WORD + this.#words[this.#at] + this.#words[this.#at + 1] * 0x100;
      this.#at += 2;
    }
    this.#state = state;
    return symbols[low];
  }

  /** Throws unless exactly the symbols that were written were taken. */
  end(): void {
    if (this.#state !== LOWEST || this.#at !== this.#words.length)
      throw this.#reader.corrupt('has other symbols than were written');
  }
}

// The shares of a column's symbols, by context: what stands before a symbol tells much of it. A context has a table of its own where that
// saves more than the table costs, and shares one with the others elsewhere.
//
//     model = n:varint context:varint[n] symbolTable[n + 1]       contexts ascend; the first table is that of all others

/** Contexts of one column at most: a byte, and one for the first of a trace. */
export const MAX_CONTEXTS = 257;

/** Bits of a table: its length, and each symbol with its share. */
const TABLE_BITS = 16;
const ENTRY_BITS = 18;
/** Fewer symbols of a context hardly ever save what a table costs. */
const MIN_SYMBOLS = 8;

/** Counts symbols by context. */
export class SymbolCounts {
  readonly counts: Uint32Array;
  /** Symbols of each context. */
  readonly totals: Uint32Array;

  constructor(readonly contexts: number) {
    this.counts = new Uint32Array(contexts * SYMBOLS);
    this.totals = new Uint32Array(contexts);
  }

  add(context: number, symbol: number): void {
    this.counts[context * SYMBOLS + symbol]++;
    this.totals[context]++;
  }
}

/** Bits of the counted symbols when each costs what its share of `total` says. */
const bitsOf = (
  counts: Uint32Array,
  offset: number,
  shares: Uint32Array,
  shareOffset: number,
  total: number,
): number => {
  let bits = 0;
  for (let i = 0; i < SYMBOLS; i++) {
    const count = counts[offset + i];
    if (count > 0) bits += count * Math.log2(total / shares[shareOffset + i]);
  }
  return bits;
};

const distinct = (counts: Uint32Array, offset: number): number => {
  let symbols = 0;
  for (let i = 0; i < SYMBOLS; i++) if (counts[offset + i] > 0) symbols++;
  return symbols;
};

/** The tables of one column. */
export class SymbolModel {
  /** The shared one, then those of single contexts. */
  readonly #tables: readonly SymbolTable[];
  /** The contexts with tables of their own, ascending. */
  readonly #owners: readonly number[];
  /** The table of each context. */
  readonly #byContext: readonly SymbolTable[];

  private constructor(
    contexts: number,
    tables: readonly SymbolTable[],
    owners: readonly number[],
    /** About what the counted symbols take, tables included. */
    readonly bits: number,
  ) {
    this.#tables = tables;
    this.#owners = owners;
    const byContext = new Array<SymbolTable>(contexts).fill(tables[0]);
    owners.forEach((context, i) => {
      byContext[context] = tables[i + 1];
    });
    this.#byContext = byContext;
  }

  static of({ counts, totals, contexts }: SymbolCounts): SymbolModel {
    const used = [...totals.keys()].filter((context) => totals[context] > 0);
    const all = new Uint32Array(SYMBOLS);
    let total = 0;
    for (const context of used) {
      total += totals[context];
      for (let i = 0; i < SYMBOLS; i++) all[i] += counts[context * SYMBOLS + i];
    }
    const shared = new Uint32Array(SYMBOLS);
    const owners: number[] = [];
    let sharedTotal = 0;
    let bits = 0;
    for (const context of used) {
      const offset = context * SYMBOLS;
      if (contexts > 1 && totals[context] >= MIN_SYMBOLS) {
        const table = TABLE_BITS + distinct(counts, offset) * ENTRY_BITS;
        const own = bitsOf(counts, offset, counts, offset, totals[context]) + table;
        if (own < bitsOf(counts, offset, all, 0, total)) {
          owners.push(context);
          bits += own;
          continue;
        }
      }
      sharedTotal += totals[context];
      for (let i = 0; i < SYMBOLS; i++) shared[i] += counts[offset + i];
    }
    const sharedSymbols = distinct(shared, 0);
    bits += bitsOf(shared, 0, shared, 0, sharedTotal) + TABLE_BITS + sharedSymbols * ENTRY_BITS;
    const tables = owners.map((context) => SymbolTable.of(counts, context * SYMBOLS));
    const first = sharedSymbols === 0 ? EMPTY : SymbolTable.of(shared);
    return new SymbolModel(contexts, [first, ...tables], owners, bits);
  }

  /** The table of a context below the number there are. */
  table(context: number): SymbolTable {
    return this.#byContext[context];
  }

  write(writer: ByteWriter): void {
    writer.varint(this.#owners.length);
    for (const owner of this.#owners) writer.varint(owner);
    for (const table of this.#tables) table.write(writer);
  }

  static read(reader: ByteReader, contexts: number): SymbolModel {
    const count = reader.varint();
    if (count > contexts) throw reader.corrupt('has more tables than contexts');
    const owners: number[] = [];
    for (let i = 0; i < count; i++) {
      const owner = reader.varint();
      if (owner >= contexts || (i > 0 && owner <= owners[i - 1])) throw reader.corrupt('has a table of no context');
      owners.push(owner);
    }
    const tables = Array.from({ length: count + 1 }, () => SymbolTable.read(reader));
    return new SymbolModel(contexts, tables, owners, 0);
  }
}

const EMPTY = new SymbolTable(new Uint8Array(0), new Uint16Array(1));
