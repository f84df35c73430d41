// An entropy coder of bytes: a range variant of asymmetric numeral systems (Duda 2009, "Asymmetric numeral systems"; the 32-bit state
// with 16-bit words is Giesen's, 2014, "Interleaved entropy coders"). A symbol takes the logarithm of its share, to a hundredth of a
// bit. The reader must end in the state the writer began with: anything else is damage.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../../base/bytes/byte-writer.js';
import { SCALE, SCALE_BITS, type SymbolTable } from './symbol-table.js';

const LOWEST = 2 ** 16;
const WORD = 2 ** 16;
/** A share of 1 may hold states up to this; a share of n, n times as many. */
const STATES_PER_SHARE = 2 ** (32 - SCALE_BITS);

/** Takes symbols in reading order; `flush` writes them. */
export class SymbolEncoder {
  private steps = new Uint32Array(4096);
  private count = 0;
  private words = new Uint16Array(4096);

  /** A symbol that `table` has. */
  put(table: SymbolTable, symbol: number): void {
    const place = table.placeOf(symbol);
    const start = table.starts[place];
    const share = table.starts[place + 1] - start;
    // A symbol that is certain takes nothing.
    if (share === SCALE) return;
    if (this.count === this.steps.length) {
      const larger = new Uint32Array(this.count * 2);
      larger.set(this.steps);
      this.steps = larger;
    }
    this.steps[this.count++] = (share << SCALE_BITS) | start;
  }

  /** Write what was put since the last flush. */
  flush(writer: ByteWriter): void {
    const { steps, count } = this;
    if (this.words.length < count) this.words = new Uint16Array(steps.length);
    const { words } = this;
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
    this.count = 0;
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
  private readonly words: Uint8Array;
  private at = 0;
  private state: number;

  constructor(private readonly reader: ByteReader) {
    const wordCount = reader.varint();
    this.state = reader.uint32();
    if (wordCount * 2 > reader.left) throw reader.corrupt('is too short for its symbols');
    this.words = reader.raw(wordCount * 2);
  }

  take({ symbols, starts }: SymbolTable): number {
    let [low, high] = [0, symbols.length];
    if (high <= 1) {
      if (high === 1) return symbols[0];
      throw this.reader.corrupt('has a symbol where none can be');
    }
    let { state } = this;
    const slot = state & (SCALE - 1);
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (starts[middle] <= slot) low = middle;
      else high = middle;
    }
    state = (starts[low + 1] - starts[low]) * Math.floor(state / SCALE) + slot - starts[low];
    if (state < LOWEST) {
      if (this.at === this.words.length) throw this.reader.corrupt('ends in the middle of its symbols');
      state = state * WORD + this.words[this.at] + this.words[this.at + 1] * 0x100;
      this.at += 2;
    }
    this.state = state;
    return symbols[low];
  }

  /** Throws unless exactly the symbols that were written were taken. */
  end(): void {
    if (this.state !== LOWEST || this.at !== this.words.length)
      throw this.reader.corrupt('has other symbols than were written');
  }
}
