// How often each of up to 256 symbols comes, in 4096ths: what both ends of the entropy coder agree on. A table read from a file is
// checked to add up before a symbol is decoded by it.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';

export const SCALE_BITS = 12;
/** What the shares of a table add up to. */
export const SCALE = 2 ** SCALE_BITS;
/** Symbols are bytes. */
export const SYMBOLS = 256;

/** Shares of symbols, by ascending symbol. */
export class SymbolTable {
  /** Place of each symbol in `symbols`, for writers. */
  private places: Uint8Array | undefined;

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
    if (this.places === undefined) {
      this.places = new Uint8Array(SYMBOLS);
      for (let i = 0; i < this.symbols.length; i++) this.places[this.symbols[i]] = i;
    }
    return this.places[symbol];
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
