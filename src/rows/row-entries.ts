// What a row has beyond its columns: properties, events, links, the message of a status and what bounds refused, as entries of four
// words, in this order:
//
//   row      = name? property* message? dropped? event* link*
//   event    = EVENT name? property* dropped?
//   link     = LINK TRACE state? property* dropped?
//   property = key? (value | ARRAY value*)
//
// Word 0 is the number of a key or name, 0 where its text comes in an entry of its own; word 1 has the tag in its low byte; words 2
// and 3 are a double, or where a text is and how many bytes it has. Written on the recording path: nothing here may throw or call
// what a user wrote.
import { Counter, countMany } from './counters.js';
import {
  type EndedSpan,
  isScalar,
  type PendingEvent,
  type PendingLink,
  type PropertyList,
  type PropertyValue,
} from './property.js';
import { internName, RowText } from './row-text.js';

/** What an entry is. */
export const Tag = {
  number: 1,
  true: 2,
  false: 3,
  /** Its encoding is in the second byte, as that of all texts. */
  text: 4,
  bigint: 5,
  /** Word 2: the number of values that follow. */
  array: 6,
  key: 7,
  name: 8,
  message: 9,
  /** Words 0, 2 and 3: properties, events and links that were left out. */
  dropped: 10,
  /** The double: ticks. */
  event: 11,
  /** Words 0 and 2: the span id. Word 3: the first word of the trace id. */
  link: 12,
  /** Words 0, 2 and 3: the rest of the trace id. */
  linkTrace: 13,
  linkState: 14,
} as const;

/** Bytes of an entry. */
const ENTRY_BYTES = 16;

// Texts that come again and again under a key, as literals do, are written once a chunk: the last one of each key is compared, by
// the key's number in a table of this size.
const REMEMBERED = 64;
const REMEMBERED_LENGTH = 256;
const NO_SOURCE = 0;

/** Of each slot the key, its last text and the entry that has it. */
class Remembered {
  readonly keys = new Int32Array(REMEMBERED);
  readonly texts: string[] = new Array(REMEMBERED).fill('');
  readonly entries = new Int32Array(REMEMBERED);
}

/** Of each slot where its last text is in the text that is copied from, and where it is here. */
class Copied {
  readonly sources = new Int32Array(REMEMBERED);
  readonly places = new Int32Array(REMEMBERED);
}

/** True for an entry whose words 2 and 3 are where a text is and how long. */
export const isText = (tag: number): boolean =>
  tag === Tag.text || tag === Tag.bigint || (tag >= Tag.key && tag <= Tag.message) || tag === Tag.linkState;

export class RowEntries {
  count = 0;
  readonly text: RowText;
  words: Int32Array;
  /** The same memory: entry `i` has its double at `2 * i + 1`. */
  doubles: Float64Array;
  // Made with the first text: rows that are copies have none of their own.
  private remembered: Remembered | null = null;
  // The same for rows that are copied, and the serial number of the text they are copied from.
  private source = NO_SOURCE;
  private copied: Copied | null = null;

  /** With room for an entry a row, and short texts, from the start. */
  constructor(rows: number) {
    this.text = new RowText(rows * 16);
    this.words = new Int32Array(rows * 4);
    this.doubles = new Float64Array(this.words.buffer);
  }

  /** Entries to read, whose memory lies elsewhere; `words` begins at a multiple of eight bytes. Nothing may be written to them. */
  static over(words: Int32Array, count: number, text: RowText): RowEntries {
    const doubles = new Float64Array(words.buffer, words.byteOffset, count * 2);
    return Object.assign(Object.create(RowEntries.prototype), { words, doubles, count, text });
  }

  get usedBytes(): number {
    return this.count * ENTRY_BYTES + this.text.used;
  }

  /** Bytes of the entries from `from` to before `to`, each with its text. */
  bytesOf(from: number, to: number): number {
    let bytes = (to - from) * ENTRY_BYTES;
    for (let at = from * 4; at < to * 4; at += 4) if (isText(this.words[at + 1] & 0xff)) bytes += this.words[at + 3];
    return bytes;
  }

  /** Forget all. */
  clear(): void {
    this.count = 0;
    this.text.clear();
    this.source = NO_SOURCE;
    this.forgetTexts();
  }

  /** Nothing more is written: keep no string of the program, which may be a part of a long one. */
  forgetTexts(): void {
    this.remembered = null;
  }

  /** All entries of the row that is added next; gives their bytes. `name`: of one without a number; `further`: links beside those of the details. */
  writeDetails(
    { propertyList, details }: EndedSpan,
    name: string | null,
    further: readonly PendingLink[] | null,
  ): number {
    const before = this.usedBytes;
    if (name !== null) this.writeName(name);
    const invalid = propertyList === null ? 0 : this.writeProperties(propertyList);
    if (details === null) this.writeDropped(invalid, 0, 0);
    else {
      const { links, events, message } = details;
      if (message !== '') this.writeMessage(message);
      const unlinked = links === null ? 0 : links.reduce((sum, { ids }) => sum + (ids === null ? 1 : 0), 0);
      this.writeDropped(invalid + details.droppedProperties, details.droppedEvents, unlinked + details.droppedLinks);
      if (events !== null) for (const event of events) this.writeEvent(event);
    }
    if (further !== null) for (const link of further) this.writeLink(link);
    if (details?.links) for (const link of details.links) this.writeLink(link);
    return this.usedBytes - before;
  }

  /** Properties in their order, key, value, key, value, each key once; gives how many had values of no permitted type. */
  writeProperties(list: PropertyList): number {
    const properties = list.length > 2 ? lastOfEachKey(list) : list;
    let invalid = 0;
    for (let i = 0; i < properties.length; i += 2) {
      if (!this.writeProperty(properties[i], properties[i + 1])) invalid++;
    }
    if (invalid > 0) countMany(Counter.propertiesInvalid, invalid);
    return invalid;
  }

  /** Counts of what was left out; nothing when all are 0. */
  writeDropped(properties: number, events: number, links: number): void {
    if (properties + events + links > 0) this.add(properties, Tag.dropped, events, links);
  }

  writeEvent({ name, ticks, properties, dropped }: PendingEvent): void {
    const number = internName(name);
    this.addDouble(number, Tag.event, ticks);
    if (number === 0) this.writeName(name);
    this.writeOwn(properties, dropped);
  }

  /** Nothing when its ids were not ids, which is counted with the span. */
  writeLink({ ids, traceState, properties, dropped }: PendingLink): void {
    if (ids === null) return;
    this.add(ids[4], Tag.link, ids[5], ids[0]);
    this.add(ids[1], Tag.linkTrace, ids[2], ids[3]);
    if (traceState !== '') this.writeText(0, Tag.linkState, traceState);
    this.writeOwn(properties, dropped);
  }

  writeMessage(text: string): void {
    this.writeText(0, Tag.message, text);
  }

  /** The text of a name that has no number. */
  writeName(name: string): void {
    this.writeText(0, Tag.name, name);
  }

  /** The text of an entry that has one. */
  textAt(entry: number): string {
    const at = entry * 4;
    return this.text.read(this.words[at + 2], this.words[at + 3], (this.words[at + 1] >> 8) & 0xff);
  }

  /** The value of a property or of an item. */
  valueAt(entry: number): PropertyValue {
    switch (this.words[entry * 4 + 1] & 0xff) {
      case Tag.number:
        return this.doubles[entry * 2 + 1];
      case Tag.text:
        return this.textAt(entry);
      case Tag.bigint:
        return BigInt(this.textAt(entry));
      case Tag.array:
        return Array.from({ length: this.words[entry * 4 + 2] }, (_, i) =>
          this.valueAt(entry + 1 + i),
        ) as unknown as PropertyValue;
      default:
        return (this.words[entry * 4 + 1] & 0xff) === Tag.true;
    }
  }

  /** The first entry of a row that is no longer its name or a property. */
  endOfProperties(head: number, end: number): number {
    let at = head;
    while (at < end && (this.words[at * 4 + 1] & 0xff) <= Tag.name) at++;
    return at;
  }

  /** Entries of others, `from` to before `to`, with their texts. */
  copy(source: RowEntries, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const at = this.next() * 4;
      for (let word = 0; word < 4; word++) this.words[at + word] = source.words[i * 4 + word];
      if (!isText(this.words[at + 1] & 0xff)) continue;
      const place = this.copyText(source.text, this.words[at], this.words[at + 2], this.words[at + 3]);
      this.words[at + 2] = Math.max(0, place);
      if (place < 0) this.words[at + 3] = 0;
    }
  }

  /** Name and properties of others, but for properties that `but` has too. */
  copyProperties(source: RowEntries, from: number, to: number, but: PropertyList): void {
    for (let at = from, behind: number; at < to; at = behind) {
      const value = source.tagAt(at) === Tag.key ? at + 1 : at;
      behind = value + 1 + (source.tagAt(value) === Tag.array ? source.words[value * 4 + 2] : 0);
      if (!source.hasKeyOf(at, but)) this.copy(source, at, behind);
    }
  }

  private tagAt(entry: number): number {
    return this.words[entry * 4 + 1] & 0xff;
  }

  private hasKeyOf(entry: number, list: PropertyList): boolean {
    for (let i = 0; i < list.length; i += 2) {
      const key = list[i] as string;
      const tag = this.tagAt(entry);
      if (tag === Tag.key ? this.textAt(entry) === key : tag !== Tag.name && this.words[entry * 4] === internName(key))
        return true;
    }
    return false;
  }

  // The properties of an event or a link, and how many of them were left out.
  private writeOwn(properties: PropertyList | null, dropped: number): void {
    this.writeDropped(dropped + (properties === null ? 0 : this.writeProperties(properties)), 0, 0);
  }

  private copyText(from: RowText, key: number, at: number, length: number): number {
    if (key === 0 || length === 0) return this.text.copy(from, at, length);
    this.copied ??= new Copied();
    const { sources, places } = this.copied;
    if (this.source !== from.serial) {
      this.source = from.serial;
      sources.fill(-1);
    }
    const slot = key % REMEMBERED;
    // Texts do not overlap: where one begins, there is no other.
    if (sources[slot] === at) return places[slot];
    const place = this.text.copy(from, at, length);
    sources[slot] = place < 0 ? -1 : at;
    places[slot] = place;
    return place;
  }

  private writeProperty(key: unknown, value: unknown): boolean {
    if (typeof key !== 'string') return value === undefined;
    switch (typeof value) {
      case 'string':
        this.writeRemembered(this.keyOf(key), value);
        return true;
      case 'number':
        this.addDouble(this.keyOf(key), Tag.number, value);
        return true;
      case 'boolean':
        this.add(this.keyOf(key), value ? Tag.true : Tag.false, 0, 0);
        return true;
      case 'bigint':
        this.writeText(this.keyOf(key), Tag.bigint, value.toString());
        return true;
      case 'undefined':
        return true;
      default:
        if (!isList(value)) return false;
        this.add(this.keyOf(key), Tag.array, value.length, 0);
        for (const item of value) this.writeItem(item);
        return true;
    }
  }

  private writeItem(item: unknown): void {
    if (typeof item === 'string') this.writeText(0, Tag.text, item);
    else if (typeof item === 'number') this.addDouble(0, Tag.number, item);
    else if (typeof item === 'bigint') this.writeText(0, Tag.bigint, item.toString());
    else this.add(0, item ? Tag.true : Tag.false, 0, 0);
  }

  /** The number of `key`; 0 when its text was written in an entry before. */
  private keyOf(key: string): number {
    const number = internName(key);
    if (number === 0) this.writeText(0, Tag.key, key);
    return number;
  }

  private writeRemembered(key: number, text: string): void {
    const slot = key % REMEMBERED;
    this.remembered ??= new Remembered();
    const { keys, texts, entries } = this.remembered;
    if (keys[slot] === key && texts[slot] === text && key !== 0) {
      const from = entries[slot] * 4;
      this.add(key, this.words[from + 1], this.words[from + 2], this.words[from + 3]);
      return;
    }
    const entry = this.writeText(key, Tag.text, text);
    if (text.length > REMEMBERED_LENGTH) return;
    keys[slot] = key;
    texts[slot] = text;
    entries[slot] = entry;
  }

  private writeText(word: number, tag: number, text: string): number {
    const at = this.text.used;
    const length = this.text.write(text);
    return this.add(word, length < 0 ? tag : tag | (this.text.encoding << 8), at, Math.max(0, length));
  }

  private addDouble(word: number, tag: number, double: number): void {
    const entry = this.next();
    this.words[entry * 4] = word;
    this.words[entry * 4 + 1] = tag;
    this.doubles[entry * 2 + 1] = double;
  }

  private add(a: number, tag: number, b: number, c: number): number {
    const entry = this.next();
    const at = entry * 4;
    const { words } = this;
    words[at] = a;
    words[at + 1] = tag;
    words[at + 2] = b;
    words[at + 3] = c;
    return entry;
  }

  private next(): number {
    const entry = this.count;
    if (entry * 4 === this.words.length) this.grow();
    this.count = entry + 1;
    return entry;
  }

  private grow(): void {
    const words = new Int32Array(this.words.length * 2);
    words.set(this.words);
    this.words = words;
    this.doubles = new Float64Array(words.buffer);
  }
}

// Beyond so many words of a list a set is faster than comparing each key with those before it.
const FEW = 32;

// A later value of a key wins, at the place of the first one. What is not a value stays, to be counted.
const lastOfEachKey = (list: PropertyList): PropertyList => {
  if (list.length > FEW) return merged(list);
  for (let i = 2; i < list.length; i += 2) {
    for (let before = 0; before < i; before += 2) if (list[before] === list[i]) return merged(list);
  }
  return list;
};

const merged = (list: PropertyList): PropertyList => {
  const out: (string | PropertyValue)[] = [];
  const places = new Map<unknown, number>();
  for (let i = 0; i < list.length; i += 2) {
    const key = list[i];
    const value = list[i + 1];
    const isKept = typeof key === 'string' && isValue(value);
    const place = isKept ? places.get(key) : undefined;
    if (place === undefined) {
      if (isKept) places.set(key, out.length);
      out.push(key, value);
    } else out[place + 1] = value;
  }
  return out;
};

const isValue = (value: unknown): boolean => isScalar(value) || isList(value);

// A function may be a revoked proxy, which `Array.isArray` throws for.
const isList = (value: unknown): value is readonly unknown[] => typeof value === 'object' && Array.isArray(value);
