// The shares of a column's symbols, by context: what stands before a symbol tells much of it. A context has a table of its own where that
// saves more than the table costs, and shares one with the others elsewhere.
//
//     model = n:varint context:varint[n] symbolTable[n + 1]       contexts ascend; the first table is that of all others
import type { ByteReader, ByteWriter } from 'spanline/internal/base';
import { SYMBOLS, SymbolTable } from './symbol-coder.js';

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
