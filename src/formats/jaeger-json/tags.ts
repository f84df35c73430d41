// Values as the typed tags of Jaeger's UI, and their order. A scalar and bytes keep their type; lists and maps, which the format has no types for, become JSON
// text. Of one key Jaeger allows several tags: the last is the property, and those before it are kept in a property of their own.

import { isInt64 } from '../../base/bytes/byte-writer.js';
import { getOrMake } from '../../base/maps/maps.js';
import { ArchivedDouble, type ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { valueJson } from '../../record/properties.js';

/**
 * The property that holds the keys of tags in the order in which they came, where they are written in another: older clients set the kind among the tags of
 * the program. It never changes what a tag is read as: of one key the last is always the same.
 */
export const ORDER_KEY = '@jaeger@tag_order';
/** The property that holds tags of one key but the last: a list of maps `{key, value}`. */
export const REPEATED_KEY = '@jaeger@tags';

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

export interface Keyed {
  readonly key: string;
}

/** The tags of each key, in their order. */
export const byKeys = <T extends Keyed>(tags: readonly T[]): Map<string, T[]> => {
  const groups = new Map<string, T[]>();
  for (const tag of tags) getOrMake(groups, tag.key, () => []).push(tag);
  return groups;
};

/** The tags in the order of the keys, or undefined: where these are other keys, or where it is their order already. */
export const inOrder = <T extends Keyed>(tags: readonly T[], order: ArchivedValue | undefined): T[] | undefined => {
  if (!Array.isArray(order) || order.length !== tags.length) return undefined;
  const groups = byKeys(tags);
  for (const group of groups.values()) group.reverse();
  const sorted: T[] = [];
  for (const key of order) {
    const tag = groups.get(key as string)?.pop();
    if (tag === undefined) return undefined;
    sorted.push(tag);
  }
  return sorted.every((tag, i) => tag === tags[i]) ? undefined : sorted;
};

/** Each repeated one before the last of its key. */
export const together = <T extends Keyed>(last: readonly T[], repeated: readonly T[]): T[] => {
  const byKey = byKeys(repeated);
  return last.flatMap((tag) => [...(byKey.get(tag.key) ?? []), tag]);
};

const isPair = (value: ArchivedValue): value is { readonly key: string; readonly value: ArchivedValue } =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { key?: unknown }).key === 'string' &&
  'value' in value;

/** The tags that are kept in the property; undefined where it is none of ours. */
const repeatedIn = (properties: SpanProperties): readonly JaegerTag[] | undefined => {
  const kept = properties.get(REPEATED_KEY);
  if (!Array.isArray(kept) || kept.length === 0 || !kept.every(isPair)) return undefined;
  const isOurs = kept.every(({ key }) => properties.get(key) !== undefined && key !== REPEATED_KEY);
  return isOurs ? kept.map(({ key, value }) => toTag(key, value)) : undefined;
};

/** The tags of properties, each repeated one before the last of its key, or where it stood. */
export const withRepeated = (tags: readonly JaegerTag[], properties: SpanProperties): JaegerTag[] => {
  const repeated = repeatedIn(properties);
  if (repeated === undefined) return [...tags];
  const last = tags.filter(({ key }) => key !== REPEATED_KEY);
  const others = last.filter(({ key }) => key !== ORDER_KEY);
  return inOrder(together(others, repeated), properties.get(ORDER_KEY)) ?? together(last, repeated);
};
