// Tags of Jaeger's UI as they are read: keys and values, what stands for fields, and several of one key. The last of a key is the property; those before it
// are kept as they came under a key of their own, and stand before it again in Jaeger's format. What a tag is read as must never depend on its place.
import { byKeys, type jaegerKeys, type Keyed, ORDER_KEY, REPEATED_KEY, together } from 'spanline/internal/formats';
import { type ArchivedValue, doubleValue, type Extras } from 'spanline/internal/record';
import { type JsonObject, textOf, toBytes, toDouble, toInteger, toObject, toText } from '../json-fields.js';
import { malformed } from '../trace-format-error.js';

/** A tag as it is read. */
export type Tag = readonly [key: string, value: ArchivedValue];

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

export const isText = (value: ArchivedValue): value is string => typeof value === 'string';
const isCount = (value: ArchivedValue): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;

/** Take the last tag of a key out of the list, if it is of the wanted form. */
export const takeLast = <T extends ArchivedValue>(
  tags: Tag[],
  key: string,
  isWanted: (value: ArchivedValue) => value is T,
): T | undefined => {
  const at = tags.findLastIndex((tag) => tag[0] === key);
  if (at < 0) return undefined;
  const value = tags[at][1];
  if (!isWanted(value)) return undefined;
  tags.splice(at, 1);
  return value;
};

/** Take the last tag of each key out of the list, if it is of the wanted form. */
export const takeExtras = (tags: Tag[], keys: jaegerKeys.ExtraKeys): Extras => {
  const extras: Record<string, ArchivedValue> = {};
  for (const [field, key] of Object.entries(keys)) {
    const value = takeLast<string | number>(tags, key, field === 'schemaUrl' ? isText : isCount);
    if (value) extras[field] = value;
  }
  return extras as Extras;
};

/** The keys in the order in which they came, or undefined where the tags are written in that order. What did not come stays behind. */
export const orderOf = (came: readonly string[], written: readonly Keyed[]): readonly string[] | undefined => {
  const groups = byKeys(written);
  const order = came.filter((key) => groups.get(key)?.pop() !== undefined);
  order.push(...[...groups].flatMap(([key, rest]) => rest.map(() => key)));
  return order.every((key, i) => key === written[i].key) ? undefined : order;
};

/** Whether the keys are in the order in which Jaeger shows tags. */
export const isSorted = (keys: readonly string[]): boolean => keys.every((key, i) => i === 0 || keys[i - 1] <= key);

const keyedTag = ([key, value]: Tag) => ({ key, value });

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
