// Numbers for things and for trace ids, in the order of appearance. Things are the same when they are written the same: they are told apart by
// identity first, which is fast, and by content after. Trace ids are found by their words; whoever chooses them must not choose where they fall.
import { ByteWriter } from 'spanline/internal/base';
import { traceHex } from 'spanline/internal/record';
import { longer } from '../values/fields.js';

export class Interner<T extends object> {
  readonly things: T[] = [];
  /** Bytes of each when written. */
  readonly bytes: number[] = [];
  readonly #write: (writer: ByteWriter, thing: T) => void;
  readonly #byIdentity = new Map<T, number>();
  readonly #byContent = new Map<string, number>();
  readonly #scratch = new ByteWriter();
  // At first what is not a thing: one that is left out must be written, and so refused.
  #lastThing: unknown = this;
  #lastNumber = 0;

  constructor(write: (writer: ByteWriter, thing: T) => void) {
    this.#write = write;
  }

  numberOf(thing: T): number {
    if (thing === this.#lastThing) return this.#lastNumber;
    this.#lastNumber = this.#byIdentity.get(thing) ?? this.#add(thing);
    this.#lastThing = thing;
    return this.#lastNumber;
  }

  #add(thing: T): number {
    this.#scratch.clear();
    this.#write(this.#scratch, thing);
    const content = this.#scratch.view().toString('latin1');
    let number = this.#byContent.get(content);
    if (number === undefined) {
      number = this.things.length;
      this.things.push(thing);
      this.bytes.push(content.length);
      this.#byContent.set(content, number);
    }
    this.#byIdentity.set(thing, number);
    return number;
  }
}

const FIRST_TRACES = 64;
/** Whoever chooses ids must not be able to choose where they fall. */
const SEED = Math.floor(Math.random() * 2 ** 32);

const mix = (hash: number, word: number): number => {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
};

export class TraceNumbers {
  count = 0;
  /** Four words each. */
  words = new Uint32Array(4 * FIRST_TRACES);
  // One more than the number of the trace that fell there; 0 for none.
  #slots = new Int32Array(4 * FIRST_TRACES);
  readonly #made: string[] = [];

  numberOf(w0: number, w1: number, w2: number, w3: number): number {
    const { words } = this;
    const slots = this.#slots;
    let slot = hashOf(w0, w1, w2, w3) & (slots.length - 1);
    for (; slots[slot] !== 0; slot = (slot + 1) & (slots.length - 1)) {
      const at = 4 * (slots[slot] - 1);
      if (words[at + 3] === w3 && words[at + 2] === w2 && words[at + 1] === w1 && words[at] === w0) return at / 4;
    }
    const number = this.count++;
    slots[slot] = this.count;
    words[4 * number] = w0;
    words[4 * number + 1] = w1;
    words[4 * number + 2] = w2;
    words[4 * number + 3] = w3;
    if (4 * this.count === words.length) this.#grow();
    return number;
  }

  /** 32 hex digits. */
  text(number: number): string {
    const { words } = this;
    this.#made[number] ??= traceHex(
      words[4 * number],
      words[4 * number + 1],
      words[4 * number + 2],
      words[4 * number + 3],
    );
    return this.#made[number];
  }

  #grow(): void {
    const words = longer(this.words, 2 * this.words.length);
    this.words = words;
    const slots = new Int32Array(words.length);
    for (let number = 0; number < this.count; number++) {
      const at = 4 * number;
      let slot = hashOf(words[at], words[at + 1], words[at + 2], words[at + 3]) & (slots.length - 1);
      while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
      slots[slot] = number + 1;
    }
    this.#slots = slots;
  }
}

const hashOf = (w0: number, w1: number, w2: number, w3: number): number => mix(mix(mix(mix(SEED, w0), w1), w2), w3);
