// Things and texts that come again in a batch: each is written once, where it is first met, and by its number afterwards. Only what may come
// again gets a number: a reader keeps all of them.
import type { ByteWriter } from 'spanline/internal/base';
import { writeText } from '../values/texts.js';

/** Longer texts get no number: they hardly come again, and a reader would have to keep them. */
const MAX_KNOWN_LENGTH = 256;

/** Things of a batch by number, each written where it is first met. */
export class KnownThings<T> {
  readonly #write: (writer: ByteWriter, thing: T) => void;
  readonly #numbers = new Map<T, number>();
  // At first no thing: one that is missing must be written, and so refused.
  #last: unknown = this;
  #lastNumber = 0;

  constructor(write: (writer: ByteWriter, thing: T) => void) {
    this.#write = write;
  }

  ref(writer: ByteWriter, thing: T): void {
    if (thing === this.#last) {
      writer.varint(this.#lastNumber);
      return;
    }
    const known = this.#numbers.get(thing);
    const number = known ?? this.#numbers.size;
    writer.varint(number);
    if (known === undefined) {
      this.#numbers.set(thing, number);
      this.#write(writer, thing);
    }
    this.#last = thing;
    this.#lastNumber = number;
  }
}

/** Texts of a batch by number, from 1 on; each is written where it is first met, and a long one, by 0, wherever it is used. */
export class KnownTexts {
  readonly #numbers = new Map<string, number>();

  ref(writer: ByteWriter, text: string): void {
    const known = this.#numbers.get(text);
    if (known !== undefined) {
      writer.varint(known);
      return;
    }
    const isKept = typeof text === 'string' && text.length <= MAX_KNOWN_LENGTH;
    const number = isKept ? this.#numbers.size + 1 : 0;
    if (isKept) this.#numbers.set(text, number);
    writer.varint(number);
    writeText(writer, text);
  }
}
