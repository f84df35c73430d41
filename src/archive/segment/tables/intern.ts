// Things by number in the order they first come, each once: told apart by identity first, which is fast, and by what they are. Numbers
// can be dealt anew by how often a thing is used.
import { ByteWriter } from '../../../base/bytes/byte-writer.js';

/** Numbers things that are the same when they are written the same. */
export class Interner<T extends object> {
  readonly things: T[] = [];
  /** Bytes of each when written. */
  readonly bytes: number[] = [];
  private readonly byIdentity = new Map<T, number>();
  private readonly byContent = new Map<string, number>();
  private readonly scratch = new ByteWriter();
  private lastThing: T | undefined;
  private lastNumber = 0;

  constructor(private readonly write: (writer: ByteWriter, thing: T) => void) {}

  numberOf(thing: T): number {
    if (thing === this.lastThing) return this.lastNumber;
    this.lastThing = thing;
    this.lastNumber = this.byIdentity.get(thing) ?? this.add(thing);
    return this.lastNumber;
  }

  private add(thing: T): number {
    this.scratch.clear();
    this.write(this.scratch, thing);
    const content = this.scratch.view().toString('latin1');
    let number = this.byContent.get(content);
    if (number === undefined) {
      number = this.things.length;
      this.things.push(thing);
      this.bytes.push(content.length);
      this.byContent.set(content, number);
    }
    this.byIdentity.set(thing, number);
    return number;
  }
}

/** Old numbers from the one used most to the one used least, and the new number of each old one. */
export interface Ranking {
  readonly order: readonly number[];
  readonly ranks: Uint32Array;
}

/** Rank numbers by their uses. */
export const rankByUse = (uses: readonly number[]): Ranking => {
  const order = [...uses.keys()].sort((a, b) => uses[b] - uses[a] || a - b);
  const ranks = new Uint32Array(order.length);
  order.forEach((number, rank) => {
    ranks[number] = rank;
  });
  return { order, ranks };
};
