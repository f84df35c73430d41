// The form of a span in a frame of a write-ahead file: what its first byte says, its single fields, and things and texts that come again in a batch,
// each written once, where it is first met, and by its number afterwards. Only what may come again gets a number: a reader keeps all of them. What no
// segment can keep is refused here, by name.
import { BadValueError } from '@spanline/graph';
import { type ByteWriter, nanosWords, toNanosWords } from 'spanline/internal/base';
import type { FinishedSpan } from 'spanline/internal/record';
import { isTime, parseId, TIME_RULE } from '../values/fields.js';
import { writeText } from '../values/values.js';

/** What a span has, as bits of its first byte. `far`: its end is written as a time, for it lasts longer than 2^53 ns. */
export const Has = { parent: 1, newTrace: 2, texts: 4, properties: 8, events: 16, links: 32, far: 64 } as const;

export const ALL_BITS = 127;

const words = new Uint32Array(4);

/** Write an id of `count` words given as hex digits; gives its last word. Throws `BadKeyError` with the name of the field. */
export const writeId = (writer: ByteWriter, hex: string, what: string, count: number): number => {
  parseId(hex, what, count, words, 0);
  for (let i = 0; i < count; i++) writer.uint32(words[i]);
  return words[count - 1];
};

/** Throws `BadValueError` for what is not a time. */
export const checkTime = (time: bigint): void => {
  if (!isTime(time)) throw new BadValueError(`${String(time)} is not a valid time: ${TIME_RULE}`);
};

/** The words of the id of a trace. */
export type TraceWords = Pick<FinishedSpan, 'trace0' | 'trace1' | 'trace2' | 'trace3'>;

/** Write two words, as those of the id of a span. */
export const writeWords = (writer: ByteWriter, first: number, second: number): void => {
  writer.reserve(8);
  const { data, length } = writer;
  data.setUint32(length, first, true);
  data.setUint32(length + 4, second, true);
  writer.length = length + 8;
};

/** Write the id of a trace that is at hand as words. */
export const writeTraceId = (writer: ByteWriter, { trace0, trace1, trace2, trace3 }: TraceWords): void => {
  writeWords(writer, trace0, trace1);
  writeWords(writer, trace2, trace3);
};

/** Write a Unix time of seconds and nanoseconds. */
export const writeNanos = (writer: ByteWriter, sec: number, nano: number): void => {
  toNanosWords(sec, nano);
  writeWords(writer, nanosWords.lo, nanosWords.hi);
};

/** The number of one of a few names. Throws `BadValueError` for any other. */
export const numberOf = <T extends string>(names: readonly T[], name: T): number => {
  const number = names.indexOf(name);
  if (number < 0) throw new BadValueError(`${JSON.stringify(name)} is none of ${names.join(', ')}`);
  return number;
};

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

  /** Write a thing, or its number; gives the number. */
  ref(writer: ByteWriter, thing: T): number {
    if (thing === this.#last) {
      writer.varint(this.#lastNumber);
      return this.#lastNumber;
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
    return number;
  }
}

/** Texts of a batch by number, from 1 on; each is written where it is first met, and a long one, by 0, wherever it is used. */
export class KnownTexts {
  readonly #numbers = new Map<string, number>();

  /** Write a text, or its number; gives the number, 0 for none. */
  ref(writer: ByteWriter, text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) {
      writer.varint(known);
      return known;
    }
    const isKept = typeof text === 'string' && text.length <= MAX_KNOWN_LENGTH;
    const number = isKept ? this.#numbers.size + 1 : 0;
    if (isKept) this.#numbers.set(text, number);
    writer.varint(number);
    writeText(writer, text);
    return number;
  }
}
