// "Symbols" of docs/formats.md: the entropy coder of segments, and numbers as a symbol and bits.
import { Reader, times } from './bytes.mjs';

const SCALE = 4096;
const LOWEST = 65536;

const symbolTable = (r) => {
  const symbols = [...r.raw(r.varint())];
  let end = 0;
  return symbols.map((symbol) => {
    const share = r.varint();
    end += share;
    return { symbol, share, end };
  });
};

/** The table of each context. */
export const symbolModel = (r) => {
  const owners = r.list(r.varint);
  const [shared, ...own] = times(owners.length + 1, () => symbolTable(r));
  return (context) => own[owners.indexOf(context)] ?? shared;
};

export class SymbolReader {
  constructor(r) {
    const words = r.varint();
    this.state = r.u32();
    this.words = new Reader(r.raw(2 * words));
  }

  take(table) {
    if (table.length === 1) return table[0].symbol;
    const slot = this.state % SCALE;
    const { symbol, share, end } = table.find((entry) => slot < entry.end);
    this.state = share * Math.floor(this.state / SCALE) + slot - (end - share);
    if (this.state < LOWEST) this.state = this.state * 65536 + this.words.u16();
    return symbol;
  }
}

/** The number of a symbol, of which `bits` has what the symbol leaves open. */
export const numberOf = (bits, symbol) => {
  if (symbol < 3) return [0, 1, -1][symbol];
  const step = (symbol - 1) >> 1;
  const open = ((step + 1) >> 1) - 1;
  const magnitude = (step % 2 === 1 ? 2 : 3) * 2 ** open + bits.bits(open);
  return symbol % 2 === 1 ? magnitude : -magnitude;
};
