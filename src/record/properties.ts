// Properties made from keys and values of anywhere. A key may be any text: none may reach a prototype.
//
// Properties as the finished span shows them: over a list (key, value, key, value) and over an object. A view is made once and pointed at one
// after another; it never copies a value.
//
// Values as JSON text: what shows lists and maps where a format has no types for them. What has no number in JSON is text; integers keep all
// their digits, minus zero its sign, and bytes are base64.

import type { PropertyList } from '../rows/property.js';
import { ArchivedDouble, type ArchivedProperties, type ArchivedValue } from './archived-span.js';
import type { SpanProperties } from './finished-span.js';

/** No properties, shared by all that have none. */
export const NO_PROPERTIES: ArchivedProperties = Object.freeze({});

/** An own property whatever its key: an assignment to `__proto__` would set the prototype. */
export const setOwn = <T>(on: Record<string, T>, key: string, value: T): void => {
  if (key !== '__proto__') on[key] = value;
  else Object.defineProperty(on, key, { value, enumerable: true, writable: true, configurable: true });
};

const INDEX = /^(?:0|[1-9]\d{0,9})$/;

/** Whether an object lists the key before all others, in the order of numbers. */
const isIndex = (key: string): boolean => {
  const first = key.charCodeAt(0);
  return first >= 0x30 && first <= 0x39 && INDEX.test(key);
};

/**
 * Properties while they are read, which are listed in the order they came. An object lists keys such as "10" and "2" first and by number: where there
 * are any, what stands for the object says the order.
 */
export class PropertyDraft {
  readonly #properties: Record<string, ArchivedValue> = {};
  #order: string[] | undefined;

  has(key: string): boolean {
    return Object.hasOwn(this.#properties, key);
  }

  /** Set one; false when the key was there already. */
  set(key: string, value: ArchivedValue): boolean {
    if (this.#order === undefined && isIndex(key)) this.#order = Object.keys(this.#properties);
    const isNew = !this.has(key);
    setOwn(this.#properties, key, value);
    if (isNew) this.#order?.push(key);
    return isNew;
  }

  /** All that were set. The draft must not be used any more. */
  done(): Record<string, ArchivedValue> {
    const properties = this.#properties;
    const order = this.#order;
    if (order === undefined || Object.keys(properties).every((key, i) => key === order[i])) return properties;
    return new Proxy(properties, { ownKeys: () => order });
  }
}

/** The property, if there is one of its own. */
export const propertyOf = (properties: ArchivedProperties, key: string): ArchivedValue | undefined =>
  Object.hasOwn(properties, key) ? properties[key] : undefined;

/** Over the list of a record. */
export class ListProperties implements SpanProperties {
  private list: PropertyList | null = null;

  of(list: PropertyList | null): this {
    this.list = list;
    return this;
  }

  get size(): number {
    return this.list === null ? 0 : this.list.length >> 1;
  }

  key(index: number): string {
    return (this.list as PropertyList)[index * 2] as string;
  }

  value(index: number): ArchivedValue {
    return (this.list as PropertyList)[index * 2 + 1];
  }

  get(key: string): ArchivedValue | undefined {
    for (let i = 0; i < this.size; i++) if (this.key(i) === key) return this.value(i);
    return undefined;
  }
}

/** Over an object with properties of its own; one that is undefined is none. */
export class ObjectProperties implements SpanProperties {
  private properties: ArchivedProperties = {};
  private keys: readonly string[] = [];

  of(properties: Readonly<Record<string, ArchivedValue | undefined>>): this {
    this.properties = properties as ArchivedProperties;
    this.keys = Object.keys(properties);
    if (this.keys.some((key) => properties[key] === undefined))
      this.keys = this.keys.filter((key) => properties[key] !== undefined);
    return this;
  }

  get size(): number {
    return this.keys.length;
  }

  key(index: number): string {
    return this.keys[index];
  }

  value(index: number): ArchivedValue {
    return this.properties[this.keys[index]];
  }

  get(key: string): ArchivedValue | undefined {
    return propertyOf(this.properties, key);
  }
}

const escaped = (text: string): string =>
  JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

type Entry = readonly [key: string, value: ArchivedValue];

/** Go orders keys by their bytes. */
const byBytes = ([a]: Entry, [b]: Entry): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const jsonOf = (value: ArchivedValue, isAsGo: boolean): string => {
  const quote = isAsGo ? escaped : JSON.stringify;
  switch (typeof value) {
    case 'string':
      return quote(value);
    case 'boolean':
    case 'bigint':
      return String(value);
    case 'number':
      if (Object.is(value, -0)) return '-0';
      return Number.isFinite(value) ? String(value) : quote(String(value));
    default: {
      if (value === null) return 'null';
      if (value instanceof ArchivedDouble) return jsonOf(value.value, isAsGo);
      if (value instanceof Uint8Array) return quote(Buffer.from(value).toString('base64'));
      if (Array.isArray(value)) return `[${value.map((item) => jsonOf(item, isAsGo)).join(',')}]`;
      const entries: Entry[] = Object.entries(value as { readonly [key: string]: ArchivedValue });
      if (isAsGo) entries.sort(byBytes);
      return `{${entries.map(([key, item]) => `${quote(key)}:${jsonOf(item, isAsGo)}`).join(',')}}`;
    }
  }
};

/** Members in their order. */
export const valueJson = (value: ArchivedValue): string => jsonOf(value, false);

/** As Go's encoding/json writes it, which is how Jaeger's server shows lists and maps: keys in order, and what HTML minds escaped. */
export const goJson = (value: ArchivedValue): string => jsonOf(value, true);
