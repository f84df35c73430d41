// Texts of rows, so that a row is numbers only. Names of spans and events and keys of properties are interned: small numbers, in one table a thread that
// every copy of the library shares. Bounded, because programs put ids into names: a name without a place is a text of the row, as values are. The texts
// of a chunk are one growable buffer that each is written to once, so that no string of a finished span is on the heap; every string comes back as it
// was, lone surrogates too. Nothing here may throw.
import { state } from '../context/process-state.js';
import { Counter, count } from './counters.js';
import type { Properties, PropertyValue } from './property.js';

/** Interned names of a thread, at most. */
export const MAX_NAMES = 8192;
/** Characters of an interned name, at most. */
export const MAX_NAME_LENGTH = 256;

/** Names that are read from elsewhere: those of 32 processes that have nothing in common. */
export const MAX_READ_NAMES = 32 * MAX_NAMES;
/** In place of a name that found no place. */
const LEFT_OUT = '(a name too many)';
/** Numbers of names from elsewhere begin here: behind the program's, for readers with a table by number. */
const FIRST_READ = MAX_NAMES + 1;

const { numbers, texts } = state.names;
const read = state.readNames;

/** Interns `name`: its number, from 1 on; 0 for a name without a place, whose text goes into the row. */
export const internName = (name: string): number => {
  if (name === lastName) return lastNumber;
  let number: number = followers[lastNumber];
  if (number === 0 || texts[number] !== name) {
    number = numbers.get(name) ?? addName(name);
    if (number === 0) return 0;
    followers[lastNumber] = number;
  }
  lastName = texts[number];
  lastNumber = number;
  return number;
};

// In a loop one name comes again and again.
let lastName: unknown;
let lastNumber = 0;
// Which one came behind each the last time: spans of one kind have the same keys in the same order, and to compare two names is faster than to look
// one up.
const followers = new Uint16Array(MAX_NAMES + 1);

const addName = (name: string): number => {
  // Programs without types give anything for a name.
  if (typeof name !== 'string') return 0;
  if (texts.length > MAX_NAMES || name.length > MAX_NAME_LENGTH) return 0;
  // A copy: that of the program may be a part of a text of megabytes, which it would keep. As a key, because V8 has each key once: where
  // the program's own name is a literal the two are one string, and comparing them costs nothing.
  const [own] = Object.keys({ [Buffer.from(name, 'utf16le').toString('utf16le')]: 0 });
  const number = texts.push(own) - 1;
  numbers.set(own, number);
  return number;
};

/**
 * Interns a name from elsewhere, such as a snapshot of another process, in a table of its own: it must take no place from the names of this program.
 * Where that table is full too the name is {@link LEFT_OUT}, counted.
 */
export const internReadName = (name: string): number => {
  const known = numbers.get(name) ?? read.numbers.get(name);
  if (known !== undefined) return known;
  if (read.texts.length === 0) read.texts.push(LEFT_OUT);
  if (read.texts.length > MAX_READ_NAMES) {
    count(Counter.readNamesLeftOut);
    return FIRST_READ;
  }
  const number = FIRST_READ + read.texts.push(name) - 1;
  read.numbers.set(name, number);
  return number;
};

/** The interned name with this number. */
export const internedName = (number: number): string =>
  number < FIRST_READ ? texts[number] : read.texts[number - FIRST_READ];

// Scopes are interned too: which library a span was recorded by. A span whose scope finds no place is one of this library.

/** The library that recorded a span, where it is not this one. Make one object a library and keep it. */
export interface SpanScope {
  readonly name: string;
  /** Empty where it is not known. */
  readonly version: string;
  readonly properties: Readonly<Record<string, PropertyValue>>;
  /** Which conventions its spans follow. */
  readonly schemaUrl?: string;
}

/** Scopes a thread numbers. */
export const MAX_SCOPES = 4095;

const scopes = state.scopes as SpanScope[];

/** The number of `scope`, from 1 on; 0 when it finds no place. */
export const internScope = (scope: SpanScope): number => {
  const known = scopes.indexOf(scope) + 1;
  if (known > 0) return known;
  return scopes.length < MAX_SCOPES ? scopes.push(scope) : 0;
};

/** The scope with this number; undefined for 0, which is this library. */
export const internedScope = (number: number): SpanScope | undefined => scopes[number - 1];

const EMPTY = Object.freeze({});

/** A scope as a library describes itself; equal descriptions are one scope. */
export const spanScope = (
  name: string,
  version = '',
  schemaUrl = '',
  properties: Properties | undefined = undefined,
): SpanScope => {
  const given = Object.entries(properties ?? EMPTY).filter(([, value]) => value !== undefined);
  const own = given.length === 0 ? EMPTY : Object.freeze(Object.fromEntries(given) as Record<string, PropertyValue>);
  const made = { name, version, properties: own, ...(schemaUrl === '' ? undefined : { schemaUrl }) };
  return scopes.find((one) => isEqual(one, made)) ?? Object.freeze(made);
};

const isEqual = (a: SpanScope, b: SpanScope): boolean => {
  if (a.name !== b.name || a.version !== b.version || a.schemaUrl !== b.schemaUrl) return false;
  const [ofA, ofB] = [Object.entries(a.properties), Object.entries(b.properties)];
  return ofA.length === ofB.length && ofA.every(([key, value]) => String(b.properties[key]) === String(value));
};

/** The encoding of the bytes of a text. */
export const Encoding = { ascii: 0, utf8: 1, utf16: 2 } as const;

/** Node's own methods of a buffer, which `write` and `toString` choose from: one check less each. */
interface RawBuffer extends Buffer {
  utf8Write(text: string, at: number, length: number): number;
  ucs2Write(text: string, at: number, length: number): number;
  latin1Slice(from: number, to: number): string;
  utf8Slice(from: number, to: number): string;
  ucs2Slice(from: number, to: number): string;
}

const allocate = (length: number): RawBuffer => Buffer.allocUnsafeSlow(length) as RawBuffer;

// A character of UTF-16 has three bytes at most in UTF-8. Longer texts are measured, so that they take no more than they need.
const MEASURED_LENGTH = 4096;

// Where a text is must fit into a word of its entry.
const MAX_BYTES = 2 ** 31 - 1;

let lastSerial = 0;

export class RowText {
  /** Of what is written here; another one once that was given up. */
  serial = ++lastSerial;
  /** Written bytes come first; what follows is unspecified. */
  bytes: RawBuffer;
  used = 0;
  /** Of the text written last. */
  encoding: number = Encoding.ascii;

  constructor(bytes: number) {
    this.bytes = allocate(bytes);
  }

  /** Texts to read, whose bytes lie elsewhere. Nothing may be written to them. */
  static over(bytes: Buffer): RowText {
    return Object.assign(Object.create(RowText.prototype), { serial: ++lastSerial, bytes, used: bytes.length });
  }

  /** Give up what was written. */
  clear(): void {
    this.used = 0;
    this.serial = ++lastSerial;
  }

  /** Write `text` behind what is there; gives its number of bytes, or -1 when there is no memory for it. */
  write(text: string): number {
    const { length } = text;
    if (this.used + length * 3 > this.bytes.length && !this.makeRoom(text)) return -1;
    const written = this.bytes.utf8Write(text, this.used, this.bytes.length - this.used);
    if (written === length) this.encoding = Encoding.ascii;
    else if (isWellFormed(text)) this.encoding = Encoding.utf8;
    else return this.writeUtf16(text);
    this.used += written;
    return written;
  }

  /** Copy written bytes of another buffer; gives where they are here, or -1 when there is no memory for them. */
  copy(from: RowText, at: number, length: number): number {
    if (this.used + length > this.bytes.length && !this.grow(this.used + length)) return -1;
    const to = this.used;
    from.bytes.copy(this.bytes, to, at, at + length);
    this.used = to + length;
    return to;
  }

  read(at: number, length: number, encoding: number): string {
    if (encoding === Encoding.ascii) return this.bytes.latin1Slice(at, at + length);
    return encoding === Encoding.utf8 ? this.bytes.utf8Slice(at, at + length) : this.bytes.ucs2Slice(at, at + length);
  }

  private writeUtf16(text: string): number {
    const length = text.length * 2;
    if (this.used + length > this.bytes.length && !this.grow(this.used + length)) return -1;
    this.bytes.ucs2Write(text, this.used, length);
    this.encoding = Encoding.utf16;
    this.used += length;
    return length;
  }

  private makeRoom(text: string): boolean {
    const max = text.length < MEASURED_LENGTH ? text.length * 3 : Buffer.byteLength(text);
    return this.used + max <= this.bytes.length || this.grow(this.used + max);
  }

  private grow(needed: number): boolean {
    if (needed > MAX_BYTES) return false;
    try {
      const bytes = allocate(Math.max(needed, this.bytes.length * 2));
      this.bytes.copy(bytes, 0, 0, this.used);
      this.bytes = bytes;
      return true;
    } catch {
      return false;
    }
  }
}

const { isWellFormed: wellFormed } = String.prototype as unknown as { isWellFormed(this: string): boolean };
const isWellFormed = (text: string): boolean => wellFormed.call(text);
