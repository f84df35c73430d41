// The order of tags, where it is not the one in which they are written: older clients set the kind or the status among tags of the program. It is
// kept as a list of keys, and must never change what a tag is read as: of one key the last is always the same.
import { getOrMake } from '../../base/maps/maps.js';
import type { ArchivedValue } from '../../record/archived-span.js';

/** The property that holds the keys in the order in which they came. */
export const ORDER_KEY = '@jaeger@tag_order';

interface Keyed {
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

/** The keys in the order in which they came, or undefined where the tags are written in that order. What did not come stays behind. */
export const orderOf = (came: readonly string[], written: readonly Keyed[]): readonly string[] | undefined => {
  const groups = byKeys(written);
  const order = came.filter((key) => groups.get(key)?.pop() !== undefined);
  order.push(...[...groups].flatMap(([key, rest]) => rest.map(() => key)));
  return order.every((key, i) => key === written[i].key) ? undefined : order;
};

/** Whether the keys are in the order in which Jaeger shows tags. */
export const isSorted = (keys: readonly string[]): boolean => keys.every((key, i) => i === 0 || keys[i - 1] <= key);
