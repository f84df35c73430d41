// Names, keys and texts of rows as numbers of a frame, found by the numbers that rows have of them: no string is made of, or looked up for, what the
// frame has already. What is written is what `KnownTexts` writes for the same strings. Nothing found in another frame may pass for this one's.

import type { ByteWriter } from 'spanline/internal/base';
import { internedName, MAX_NAMES, type RowProperties, Tag } from 'spanline/internal/record';
import { storedKey } from '../stored-extras.js';
import { ValueType } from '../values/values.js';
import type { KnownTexts } from './span-form.js';

/** Keys whose last text is remembered, by the number of the key. */
const REMEMBERED = 256;

// Shared by all frames of the thread, of which one is written at a time: each takes only what it wrote itself.
let lastFrame = 0;
/** By the number of a name: the frame that has it last, and its number there as a name and as a key of a property. */
const nameFrames = new Int32Array(MAX_NAMES + 1);
const nameNumbers = new Int32Array(MAX_NAMES + 1);
const keyFrames = new Int32Array(MAX_NAMES + 1);
const keyNumbers = new Int32Array(MAX_NAMES + 1);
/** Of the last text of each key: the frame, the key, where the text is in which memory, and its number. */
const textFrames = new Int32Array(REMEMBERED);
const textKeys = new Int32Array(REMEMBERED);
const textSerials = new Float64Array(REMEMBERED);
const textPlaces = new Int32Array(2 * REMEMBERED);
const textNumbers = new Int32Array(REMEMBERED);

/** The texts of rows in one frame. */
export class RowTexts {
  readonly #frame = ++lastFrame;
  readonly #texts: KnownTexts;

  constructor(texts: KnownTexts) {
    this.#texts = texts;
  }

  /** Write an interned name, whose number is from 1 on; gives its number in the frame. */
  name(writer: ByteWriter, number: number): number {
    if (nameFrames[number] === this.#frame) {
      writer.varint(nameNumbers[number]);
      return nameNumbers[number];
    }
    const known = this.#texts.ref(writer, internedName(number));
    // Names of other processes have numbers behind those of the tables, where nothing is written.
    nameFrames[number] = this.#frame;
    nameNumbers[number] = known;
    return known;
  }

  /** Write a property; false, and nothing is written, for one that has to be written as key and value. */
  property(writer: ByteWriter, entries: RowProperties['entries'], entry: number): boolean {
    const { words } = entries;
    const at = entry * 4;
    const key = words[at];
    const tag = words[at + 1] & 0xff;
    if (key === 0 || key > MAX_NAMES) return false;
    if (tag === Tag.text) {
      this.#key(writer, key);
      writer.byte(ValueType.text);
      this.#text(writer, entries, entry, key);
      return true;
    }
    if (tag === Tag.number) {
      const value = entries.doubles[entry * 2 + 1];
      // Zero may be the negative one.
      if (!(value > 0 && value <= 0xffff_ffff && Number.isInteger(value))) return false;
      this.#key(writer, key);
      writer.byte(ValueType.whole);
      writer.varint(value * 2);
      return true;
    }
    if (tag !== Tag.true && tag !== Tag.false) return false;
    this.#key(writer, key);
    writer.byte(tag === Tag.true ? ValueType.yes : ValueType.no);
    return true;
  }

  #key(writer: ByteWriter, key: number): void {
    if (keyFrames[key] === this.#frame) {
      writer.varint(keyNumbers[key]);
      return;
    }
    const number = this.#texts.ref(writer, storedKey(internedName(key)));
    if (number === 0) return;
    keyFrames[key] = this.#frame;
    keyNumbers[key] = number;
  }

  #text(writer: ByteWriter, entries: RowProperties['entries'], entry: number, key: number): void {
    const { words, text } = entries;
    const slot = key % REMEMBERED;
    const place = words[entry * 4 + 2];
    const length = words[entry * 4 + 3];
    if (
      textFrames[slot] === this.#frame &&
      textKeys[slot] === key &&
      textSerials[slot] === text.serial &&
      textPlaces[2 * slot] === place &&
      textPlaces[2 * slot + 1] === length
    ) {
      writer.varint(textNumbers[slot]);
      return;
    }
    const number = this.#texts.ref(writer, entries.textAt(entry));
    // A long text has no number: it is written wherever it comes.
    if (number === 0) return;
    textFrames[slot] = this.#frame;
    textKeys[slot] = key;
    textSerials[slot] = text.serial;
    textPlaces[2 * slot] = place;
    textPlaces[2 * slot + 1] = length;
    textNumbers[slot] = number;
  }
}
