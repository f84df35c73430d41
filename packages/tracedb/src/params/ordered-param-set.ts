// The ordered param set of a tile: every key and value has a place that never changes, so that a trace's id is a few small numbers. It must never
// encode params it does not know: two traces would share an id. As bytes it is a version byte, then keys and values in their order, each with its
// length before it: one set has exactly one form, so that equal hashes mean equal sets; bytes that no writer makes must never be read as a set.
import { createHash } from 'node:crypto';
import { ByteReader, ByteWriter, orThrow } from 'spanline/internal/base';
import { invalidInput, storeCorrupt, type TraceDbError, tableLimit } from '../tracedb-error.js';
import { ParamSet } from './param-set.js';
import { MAX_PARAM_LENGTH, type Params, quoted } from './param-text.js';

const VERSION = 1;

/** Bytes of a serialised set; what one cell of a table holds. */
const MAX_ORDERED_PARAM_SET_BYTES = 10 * 1024 * 1024;

/** Keys, and at the same place the values of each. */
interface OrderedLists {
  readonly keys: readonly string[];
  readonly values: readonly (readonly string[])[];
}

const corrupt = (what: string, options?: ErrorOptions): TraceDbError =>
  storeCorrupt(`ordered param set: ${what}; it was not written by this package, restore it from a backup`, options);

const writeText = (writer: ByteWriter, text: string): void => {
  writer.varint(Buffer.byteLength(text));
  writer.reserveText(text);
  writer.text(text);
};

/** The bytes of these lists. Throws `ERR_SPANLINE_TABLE_LIMIT` beyond 10 MiB. */
const writeOrderedLists = ({ keys, values }: OrderedLists): Uint8Array => {
  const writer = new ByteWriter();
  writer.byte(VERSION);
  writer.varint(keys.length);
  for (let k = 0; k < keys.length; k++) {
    writeText(writer, keys[k]);
    writer.varint(values[k].length);
    for (const value of values[k]) writeText(writer, value);
  }
  if (writer.length > MAX_ORDERED_PARAM_SET_BYTES) {
    throw tableLimit(
      `an ordered param set of ${writer.length} bytes; the limit is ${MAX_ORDERED_PARAM_SET_BYTES}: use smaller tiles, or drop params whose values are unique to a trace`,
    );
  }
  return writer.copy();
};

// A byte order mark at the start of a value belongs to the value.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A count of things that take at least `bytesEach` bytes: never more than the rest can hold. */
const readCount = (reader: ByteReader, bytesEach: number): number => {
  const count = reader.shortestVarint();
  if (count * bytesEach > reader.left)
    throw reader.corrupt(`counts ${count} entries where ${reader.left} bytes are left`);
  return count;
};

const readText = (reader: ByteReader): string => {
  const length = readCount(reader, 1);
  const { at } = reader;
  const text = orThrow(
    () => utf8.decode(reader.raw(length)),
    (cause) => corrupt(`the text at byte ${at} is not UTF-8`, { cause }),
  );
  if (text.length > MAX_PARAM_LENGTH) {
    throw corrupt(`the text at byte ${at} has ${text.length} characters; the limit is ${MAX_PARAM_LENGTH}`);
  }
  return text;
};

/** The lists in `bytes`. Throws `ERR_SPANLINE_STORE_CORRUPT` unless `writeOrderedLists` made them. */
const readOrderedLists = (bytes: Uint8Array): OrderedLists => {
  if (bytes.byteLength > MAX_ORDERED_PARAM_SET_BYTES) {
    throw corrupt(`${bytes.byteLength} bytes; the limit is ${MAX_ORDERED_PARAM_SET_BYTES}`);
  }
  const reader = new ByteReader(bytes, corrupt);
  const version = reader.byte();
  if (version !== VERSION) {
    throw corrupt(`version ${version}, and this release reads version ${VERSION}: use the release that wrote it`);
  }
  const keys: string[] = [];
  const values: string[][] = [];
  // A key has a length, a byte, and a count of values; a value has a length.
  for (let k = readCount(reader, 4); k > 0; k--) {
    const key = readText(reader);
    if (key === '') throw corrupt(`an empty key before byte ${reader.at}`);
    const list: string[] = [];
    for (let v = readCount(reader, 1); v > 0; v--) list.push(readText(reader));
    if (list.length === 0) throw corrupt(`a key without values before byte ${reader.at}`);
    keys.push(key);
    values.push(list);
  }
  reader.end();
  return { keys, values };
};

const NONE: readonly string[] = Object.freeze([]);
const COMMA = 44;
const EQUALS = 61;

/** Place of each text, or undefined when one occurs twice. */
const places = (list: readonly string[]): Map<string, number> | undefined => {
  const map = new Map<string, number>();
  for (let i = 0; i < list.length; i++) map.set(list[i], i);
  return map.size === list.length ? map : undefined;
};

/** A key as an id has it, and the places of its values. */
interface NamedPlaces {
  readonly name: string;
  readonly prefix: string;
  readonly places: ReadonlyMap<string, number>;
  /** Their parts of an id, each made when it is first wanted. */
  readonly texts: string[];
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

/**
 * Keys and values of a tile in the order in which they came, and the ids made of their places; immutable. Use it to turn params
 * into the id a table row carries, and back.
 *
 * @example
 * ```ts
 * import { OrderedParamSet } from '@spanline/tracedb';
 * const params = { arch: 'x86', config: '8888' };
 * const ops = OrderedParamSet.empty.with(OrderedParamSet.empty.missing([params]));
 * console.assert(ops.encode(params) === ',0=0,1=0,');
 * console.assert(OrderedParamSet.parse(ops.serialise()).decode(',0=0,1=0,').arch === 'x86');
 * ```
 */
export class OrderedParamSet {
  /** The set of a tile that has no traces yet. */
  static readonly empty = new OrderedParamSet([], new Map(), [], []);

  /** All keys, in their order. */
  readonly keys: readonly string[];
  readonly #keyPlaces: ReadonlyMap<string, number>;
  readonly #values: readonly (readonly string[])[];
  readonly #valuePlaces: readonly ReadonlyMap<string, number>[];
  #hash: string | undefined;
  // The keys of the params last encoded: traces written together mostly have the same ones, and need no new order.
  #lastNames: { readonly names: readonly string[]; readonly order: readonly NamedPlaces[] } = { names: [], order: [] };

  private constructor(
    keys: readonly string[],
    keyPlaces: ReadonlyMap<string, number>,
    values: readonly (readonly string[])[],
    valuePlaces: readonly ReadonlyMap<string, number>[],
  ) {
    this.keys = Object.freeze(keys);
    this.#keyPlaces = keyPlaces;
    this.#values = values;
    this.#valuePlaces = valuePlaces;
  }

  /** The set these bytes hold. Throws `ERR_SPANLINE_STORE_CORRUPT` unless `serialise` made them. */
  static parse(bytes: Uint8Array): OrderedParamSet {
    const { keys, values } = readOrderedLists(bytes);
    const keyPlaces = places(keys);
    if (keyPlaces === undefined) throw storeCorrupt('ordered param set: a key occurs twice; restore it from a backup');
    const valuePlaces = values.map((list, k) => {
      const map = places(Object.freeze(list));
      if (map !== undefined) return map;
      throw storeCorrupt(`ordered param set: a value of ${quoted(keys[k])} occurs twice; restore it from a backup`);
    });
    return new OrderedParamSet(keys, keyPlaces, values, valuePlaces);
  }

  /** The values of `key`, in their order; none for an unknown key. */
  values(key: string): readonly string[] {
    return this.#values[this.keyIndex(key)] ?? NONE;
  }

  /** The place of `key`, -1 when it is unknown. */
  keyIndex(key: string): number {
    return this.#keyPlaces.get(key) ?? -1;
  }

  /** The place of `value` among the values of `key`, -1 when either is unknown. */
  valueIndex(key: string, value: string): number {
    return this.#valuePlaces[this.keyIndex(key)]?.get(value) ?? -1;
  }

  /** Whether all these params can be encoded; stops at the first that cannot. */
  hasAll(params: Iterable<Params>): boolean {
    for (const one of params) {
      for (const key of Object.keys(one)) if (this.valueIndex(key, one[key]) < 0) return false;
    }
    return true;
  }

  /** What `with` must add before these params can be encoded. Throws `ERR_SPANLINE_INVALID_INPUT` for text without UTF-8 form. */
  missing(params: Iterable<Params>): ParamSet {
    const delta = new ParamSet();
    for (const one of params) {
      for (const key of Object.keys(one)) {
        if (this.valueIndex(key, one[key]) < 0) delta.addValue(key, one[key]);
      }
    }
    return delta;
  }

  /** A set that knows `delta` too: new keys and values come behind the old ones, sorted, so that every id stays what it is. */
  with(delta: ParamSet): OrderedParamSet {
    const keys = [...this.keys];
    const keyPlaces = new Map(this.#keyPlaces);
    const values = [...this.#values];
    const valuePlaces = [...this.#valuePlaces];
    let added = 0;
    for (const key of delta.keys()) {
      const fresh = delta.values(key).filter((value) => this.valueIndex(key, value) < 0);
      if (fresh.length === 0) continue;
      added += fresh.length;
      const k = keyPlaces.get(key) ?? keys.push(key) - 1;
      keyPlaces.set(key, k);
      const list = [...(values[k] ?? NONE), ...fresh];
      values[k] = Object.freeze(list);
      valuePlaces[k] = new Map(list.map((value, v) => [value, v]));
    }
    return added === 0 ? this : new OrderedParamSet(keys, keyPlaces, values, valuePlaces);
  }

  /**
   * The id of the trace with these params: `,<key place>=<value place>,...,` by ascending key place. Throws
   * `ERR_SPANLINE_INVALID_INPUT` for no params, and for a key or value this set does not know.
   */
  encode(params: Params): string {
    const id = this.idOf(params);
    if (id !== undefined) return id;
    for (const [key, value] of Object.entries(params)) {
      if (this.valueIndex(key, value) >= 0) continue;
      throw invalidInput(
        `param ${quoted(`${key}=${value}`)} is not in the ordered param set; first add it: ops.with(ops.missing([params]))`,
      );
    }
    throw invalidInput('a trace without params has no id; give it at least one param');
  }

  /** What `encode` gives, or undefined where it throws; for writers, which ask it of every point. */
  idOf(params: Params): string | undefined {
    const names = Object.keys(params ?? {});
    if (names.length === 0) return undefined;
    if (!isSame(names, this.#lastNames.names)) {
      const order = this.#orderOf(names);
      if (order === undefined) return undefined;
      this.#lastNames = { names, order };
    }
    let id = ',';
    for (const { name, prefix, places, texts } of this.#lastNames.order) {
      const value = places.get(params[name]);
      if (value === undefined) return undefined;
      texts[value] ??= `${prefix}${value},`;
      id += texts[value];
    }
    return id;
  }

  /** These keys by ascending place; undefined when one is unknown. */
  #orderOf(names: readonly string[]): readonly NamedPlaces[] | undefined {
    const keys = names.map((name) => this.keyIndex(name));
    if (keys.includes(-1)) return undefined;
    keys.sort((a, b) => a - b);
    return keys.map((key) => ({ name: this.keys[key], prefix: `${key}=`, places: this.#valuePlaces[key], texts: [] }));
  }

  /** The params of the trace with this id. Throws `ERR_SPANLINE_STORE_CORRUPT` unless `encode` of this set, or of one it grew from, made it. */
  decode(id: string): Params {
    const entries: [string, string][] = [];
    let last = -1;
    let at = 1;
    const number = (end: number): number => {
      const start = at;
      let value = 0;
      for (let digit = id.charCodeAt(at) - 48; digit >= 0 && digit <= 9; digit = id.charCodeAt(++at) - 48) {
        value = value * 10 + digit;
      }
      // One trace, one id: '00' is no other way to write '0'.
      const canonical = at > start && (at === start + 1 || id.charCodeAt(start) !== 48);
      return canonical && id.charCodeAt(at++) === end ? value : -1;
    };
    while (id.charCodeAt(0) === COMMA && at < id.length) {
      const key = number(EQUALS);
      const value = key > last ? number(COMMA) : -1;
      const text = this.#values[key]?.[value];
      if (text === undefined) {
        entries.length = 0;
        break;
      }
      entries.push([this.keys[key], text]);
      last = key;
    }
    if (entries.length === 0) {
      throw storeCorrupt(
        `trace id ${quoted(id)} was not made by this ordered param set; read the set of the trace's own tile anew`,
      );
    }
    return Object.fromEntries(entries);
  }

  /** The same keys and values, sorted. */
  toParamSet(): ParamSet {
    const set = new ParamSet();
    this.keys.forEach((key, k) => {
      for (const value of this.#values[k]) set.addValue(key, value);
    });
    return set;
  }

  /** One set, one form: a version byte, then the texts in their order. Throws `ERR_SPANLINE_TABLE_LIMIT` beyond 10 MiB. */
  serialise(): Uint8Array {
    return writeOrderedLists({ keys: this.keys, values: this.#values });
  }

  /** MD5 of `serialise()`, 32 lower-case hex digits: by it a writer sees that another one was faster. */
  get hash(): string {
    this.#hash ??= createHash('md5').update(this.serialise()).digest('hex');
    return this.#hash;
  }
}
