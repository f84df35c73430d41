// Trace ids by number, in the order of appearance, found by their words.

const FIRST_TRACES = 64;
/** Whoever chooses ids must not be able to choose where they fall. */
const SEED = Math.floor(Math.random() * 2 ** 32);

const mix = (hash: number, word: number): number => {
  const mixed = Math.imul(hash ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
};

const hex = (word: number): string => word.toString(16).padStart(8, '0');

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
    this.#made[number] ??= [0, 1, 2, 3].map((i) => hex(words[4 * number + i])).join('');
    return this.#made[number];
  }

  #grow(): void {
    const words = new Uint32Array(2 * this.words.length);
    words.set(this.words);
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
