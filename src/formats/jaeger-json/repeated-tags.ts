// Tags of one key: Jaeger allows several, properties of a span, an event or a process have one. The last is the property; those before it are kept as they
// came under a key of their own, and stand before it again in Jaeger's format. No other format knows them but as that property.
import type { ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import { type JaegerTag, toTag } from './tags.js';

/** The property that holds them: a list of maps `{key, value}`. */
const REPEATED_KEY = '@jaeger@tags';

type Tag = readonly [key: string, value: ArchivedValue];

/** The last tag of each key, in the order of their first ones, and the property that keeps the others. */
export const withoutRepeated = (tags: readonly Tag[]): readonly Tag[] => {
  const last = new Map(tags);
  if (last.size === tags.length || last.has(REPEATED_KEY)) return tags;
  const lastAt = new Map(tags.map(([key], i) => [key, i]));
  const repeated = tags.filter(([key], i) => lastAt.get(key) !== i).map(([key, value]) => ({ key, value }));
  return [...last, [REPEATED_KEY, repeated]];
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

/** The tags of properties, each repeated one before the last of its key. */
export const withRepeated = (tags: readonly JaegerTag[], properties: SpanProperties): JaegerTag[] => {
  const repeated = repeatedIn(properties);
  if (repeated === undefined) return [...tags];
  return tags
    .filter(({ key }) => key !== REPEATED_KEY)
    .flatMap((tag) => [...repeated.filter(([key]) => key === tag.key).map(([key, value]) => toTag(key, value)), tag]);
};
