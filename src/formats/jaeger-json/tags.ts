// Values as the typed tags of Jaeger's UI, and back. A scalar and bytes keep their type; lists and maps, which the format has no types for,
// become JSON text and come back as text.
//
// Durations as Go prints them: "1h2m3.5s", "-1.5ms", "250ns".
//
// Tags of one key: Jaeger allows several, properties of a span, an event or a process have one. The last is the property; those before it are kept as they
// came under a key of their own, and stand before it again in Jaeger's format. No other format knows them but as that property.

import { isInt64 } from '../../base/bytes/byte-writer.js';
import { ArchivedDouble, doubleValue } from '../../record/archived-double.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { valueJson } from '../../record/properties.js';
import { type JsonObject, textOf, toBytes, toDouble, toInteger, toObject, toText } from '../json-fields.js';
import { malformed } from '../trace-format-error.js';
import { byKeys, inOrder, ORDER_KEY, orderOf } from './tag-order.js';

/** A typed key and value of the UI's format. */
export interface JaegerTag {
  readonly key: string;
  readonly type: 'string' | 'bool' | 'int64' | 'float64' | 'binary';
  readonly value: string | number | boolean;
}

/** A value as Jaeger shows it, lists and maps as JSON text. Minus zero is the text of it, which `tagJson` makes a number. */
export const toTag = (key: string, value: ArchivedValue): JaegerTag => {
  switch (typeof value) {
    case 'string':
      return { key, type: 'string', value };
    case 'boolean':
      return { key, type: 'bool', value };
    case 'number':
      if (Object.is(value, -0)) return { key, type: 'float64', value: '-0' };
      if (Number.isSafeInteger(value)) return { key, type: 'int64', value };
      return { key, type: 'float64', value: Number.isFinite(value) ? value : String(value) };
    case 'bigint':
      if (Number.isSafeInteger(Number(value))) return { key, type: 'int64', value: Number(value) };
      // As Jaeger's own server writes integers that a reader in JavaScript would round.
      return { key, type: isInt64(value) ? 'int64' : 'string', value: String(value) };
    default:
      if (value === null) return { key, type: 'string', value: '' };
      if (value instanceof ArchivedDouble) return { key, type: 'float64', value: value.value };
      if (value instanceof Uint8Array) return { key, type: 'binary', value: Buffer.from(value).toString('base64') };
      return { key, type: 'string', value: valueJson(value) };
  }
};

export const toTags = (properties: SpanProperties): JaegerTag[] => {
  const tags: JaegerTag[] = [];
  for (let i = 0; i < properties.size; i++) tags.push(toTag(properties.key(i), properties.value(i)));
  return tags;
};

const untyped = (value: unknown, key: string): ArchivedValue => {
  if (typeof value === 'string') return toText(value, key);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (value === null || value === undefined) return '';
  // Some writers put lists and maps here; their JSON is what the tag says.
  return JSON.stringify(value);
};

const toBool = (value: unknown, key: string): boolean => {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw malformed(`the tag ${key} must be true or false`);
};

/** A tag as it is read. */
export type Tag = readonly [key: string, value: ArchivedValue];

/** A tag's key and value. */
export const readTag = (raw: unknown): Tag => {
  const tag: JsonObject = toObject(raw, 'a tag');
  const key = textOf(tag, 'key');
  const { value } = tag;
  switch (textOf(tag, 'type').toLowerCase()) {
    case 'string':
      return [key, untyped(value, key)];
    case 'bool':
      return [key, toBool(value, key)];
    case 'int64':
      return [key, toInteger(value, key)];
    case 'float64':
      return [key, doubleValue(toDouble(value, key))];
    case 'binary':
      return [key, toBytes(value, key)];
    default:
      return [key, untyped(value, key)];
  }
};

const fraction = (value: bigint, digits: number): string => {
  const unit = 10n ** BigInt(digits);
  const rest = String(value % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${value / unit}${rest === '' ? '' : `.${rest}`}`;
};

const positive = (ns: bigint): string => {
  if (ns < 1000n) return `${ns}ns`;
  if (ns < 1_000_000n) return `${fraction(ns, 3)}µs`;
  if (ns < 1_000_000_000n) return `${fraction(ns, 6)}ms`;
  const minutes = ns / 60_000_000_000n;
  const seconds = `${fraction(ns % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
};

export const goDuration = (ns: bigint): string => {
  if (ns === 0n) return '0s';
  return ns < 0n ? `-${positive(-ns)}` : positive(ns);
};

/** The property that holds them: a list of maps `{key, value}`. */
const REPEATED_KEY = '@jaeger@tags';

const keyedTag = ([key, value]: Tag) => ({ key, value });

/** Each repeated one before the last of its key. */
const together = <T extends { readonly key: string }>(last: readonly T[], repeated: readonly T[]): T[] => {
  const byKey = byKeys(repeated);
  return last.flatMap((tag) => [...(byKey.get(tag.key) ?? []), tag]);
};

/** The last tag of each key, in the order of their first ones, and the properties that keep the others and where they stood. */
export const withoutRepeated = (tags: readonly Tag[]): readonly Tag[] => {
  const last = new Map(tags);
  if (last.size === tags.length || last.has(REPEATED_KEY)) return tags;
  const lastAt = new Map(tags.map(([key], i) => [key, i]));
  const repeated = tags.filter(([key], i) => lastAt.get(key) !== i).map(keyedTag);
  const kept: Tag[] = [...last, [REPEATED_KEY, repeated]];
  if (last.has(ORDER_KEY)) return kept;
  const order = orderOf(
    tags.map(([key]) => key),
    together([...last].map(keyedTag), repeated),
  );
  return order === undefined ? kept : [...kept, [ORDER_KEY, order]];
};

const isPair = (value: ArchivedValue): value is { readonly key: string; readonly value: ArchivedValue } =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { key?: unknown }).key === 'string' &&
  'value' in value;

/** The tags that are kept in the property; undefined where it is none of ours. */
const repeatedIn = (properties: SpanProperties): readonly Tag[] | undefined => {
  const kept = properties.get(REPEATED_KEY);
  if (!Array.isArray(kept) || kept.length === 0 || !kept.every(isPair)) return undefined;
  const pairs = kept.map(({ key, value }): Tag => [key, value]);
  return pairs.every(([key]) => properties.get(key) !== undefined && key !== REPEATED_KEY) ? pairs : undefined;
};

/** The tags of properties, each repeated one before the last of its key, or where it stood. */
export const withRepeated = (tags: readonly JaegerTag[], properties: SpanProperties): JaegerTag[] => {
  const repeated = repeatedIn(properties)?.map(([key, value]) => toTag(key, value));
  if (repeated === undefined) return [...tags];
  const last = tags.filter(({ key }) => key !== REPEATED_KEY);
  const others = last.filter(({ key }) => key !== ORDER_KEY);
  return inOrder(together(others, repeated), properties.get(ORDER_KEY)) ?? together(last, repeated);
};
