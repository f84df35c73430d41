// Numbers things that are the same when they are written the same. They are told apart by identity first, which is fast, and by content after.
import { ByteWriter } from 'spanline/internal/base';

export class Interner<T extends object> {
  readonly things: T[] = [];
  /** Bytes of each when written. */
  readonly bytes: number[] = [];
  readonly #write: (writer: ByteWriter, thing: T) => void;
  readonly #byIdentity = new Map<T, number>();
  readonly #byContent = new Map<string, number>();
  readonly #scratch = new ByteWriter();
  // At first what is no thing: one that is left out must be written, and so refused.
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
