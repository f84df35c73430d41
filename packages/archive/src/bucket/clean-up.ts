// What goes: segments that are too old or too many are declared dead, and so is what nobody named; what has been dead longer than the grace is deleted. Nothing
// may be deleted that the newest generation does not declare dead, and that for longer than the grace by the store's clock: whoever still has an older
// generation reads it as long.
import type { Retention } from '../archive-options.js';
import type { MaintainBounds, MaintainCounts } from './bucket-options.js';
import type { BucketCard } from './card.js';
import type { Catalogue } from './catalogue.js';
import type { CatalogueState } from './catalogue-state.js';
import { PROBE_PREFIX } from './conditional-writes.js';
import { headsKeyOf, hourStartMs, parseTimelineKey } from './keys.js';
import type { ObjectStore } from './object-store.js';

/** What cleaning up has to do with. */
export interface CleaningUp {
  readonly store: ObjectStore;
  readonly catalogue: Catalogue;
  readonly bounds: MaintainBounds;
  readonly counts: MaintainCounts;
  readonly signal?: AbortSignal | undefined;
}

const HOUR_MS = 3_600_000;
/** What maintainers write, where nobody else does. */
const OWN_PREFIXES = ['segments/', 'cards/', 'heads/', 'generations/', 'folded/', PROBE_PREFIX];
/** What they write there: a bucket may be shared, and what others keep below such a prefix is not ours to delete. */
const OWN_KEY = /^(?:segments\/seg-[\w.-]+|(?:cards|heads|folded|probe)\/[0-9a-f]{12}|generations\/\d+-[0-9a-f]{12})$/;
/** What a commit itself makes dead: for these alone nothing is committed, or each commit would ask for another. */
const MINOR = /^(?:generations|cards|heads|folded)\//;
/** Of those so many are deleted and forgotten at a time. */
const MANY_MINOR = 500;
const DELETED_AT_ONCE = 1000;

/** Live segments that are too old by the store's clock, then the oldest of those that are too many. */
const tooMany = (state: CatalogueState, { maxAgeMs, maxBytes }: Retention, nowMs: number): BucketCard[] => {
  const oldest = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : nowMs - maxAgeMs;
  const newestFirst = [...state.live.values()].sort(
    (a, b) => b.uploadedMs[1] - a.uploadedMs[1] || (a.name < b.name ? -1 : 1),
  );
  let bytes = 0;
  return newestFirst.filter((card) => {
    bytes += card.info.bytes;
    return card.uploadedMs[1] < oldest || bytes > (maxBytes ?? Number.POSITIVE_INFINITY);
  });
};

/** Declare dead what is older or more than `limits` allow, and delete the timelines of that time. */
export const retire = async (cleaning: CleaningUp, limits: Retention): Promise<void> => {
  const { store, catalogue, counts, signal } = cleaning;
  if (limits.maxAgeMs === undefined && limits.maxBytes === undefined) return;
  let retired = 0;
  const state = await catalogue.update(
    (now) => {
      const names = tooMany(now, limits, store.clockMs()).map(({ name }) => name);
      retired = names.length;
      return retired === 0 ? undefined : { remove: names };
    },
    { signal },
  );
  counts.retired += retired;
  const oldest = [...state.live.values()].reduce(
    (min, { uploadedMs }) => Math.min(min, uploadedMs[0]),
    Number.POSITIVE_INFINITY,
  );
  const byAge = limits.maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : store.clockMs() - limits.maxAgeMs;
  // Without a segment nothing says which are too many.
  const byBytes =
    limits.maxBytes === undefined || oldest === Number.POSITIVE_INFINITY ? Number.NEGATIVE_INFINITY : oldest;
  await deleteTimelines(cleaning, Math.max(byAge, byBytes) - HOUR_MS);
};

/** Delete the timelines of hours that were over before `beforeMs`. They go up with segments, and whoever finds one gone goes on without. */
const deleteTimelines = async ({ store, counts, signal }: CleaningUp, beforeMs: number): Promise<void> => {
  const keys: string[] = [];
  pages: for await (const page of store.list('timelines/', { signal })) {
    for (const { key } of page) {
      const hour = parseTimelineKey(key)?.hour;
      if (hour === undefined) continue;
      if (!(hourStartMs(hour) + HOUR_MS < beforeMs)) break pages;
      keys.push(key);
    }
    if (keys.length >= DELETED_AT_ONCE) break;
  }
  await store.delete(keys, { signal });
  counts.deleted += keys.length;
};

/** Declare dead what no generation names and nobody will name any more: its maker lost a race, or died. */
export const declareOrphans = async ({ store, catalogue, bounds, counts, signal }: CleaningUp): Promise<void> => {
  const before = await catalogue.read({ signal });
  const oldMs = store.clockMs() - bounds.orphanMs;
  const old: string[] = [];
  const namedBefore = namesOf(before);
  for (const prefix of OWN_PREFIXES) {
    for await (const page of store.list(prefix, { signal }))
      for (const { key, lastModifiedMs } of page)
        if (lastModifiedMs < oldMs && OWN_KEY.test(key) && !namedBefore.has(key)) old.push(key);
  }
  if (old.length === 0) return;
  let orphans: string[] = [];
  await catalogue.update(
    (state) => {
      const named = namesOf(state);
      orphans = old.filter((key) => !named.has(key));
      return orphans.length === 0 ? undefined : { dead: orphans };
    },
    { signal },
  );
  counts.orphans += orphans.length;
};

/** Keys of all that a generation names, dead or not. */
const namesOf = ({ generation, key, live }: CatalogueState): Set<string> => {
  const named = new Set<string>(key === undefined ? [] : [key]);
  for (const card of live.values()) named.add(card.key);
  for (const one of [...generation.packs, ...generation.dead, ...generation.foldedPacks]) named.add(one.key);
  for (const { key: cards } of generation.packs) named.add(headsKeyOf(cards));
  return named;
};

/** Delete what has been dead longer than the grace. `number` is that of the generation at which this look began. */
export const deleteDead = async (
  { store, catalogue, bounds, counts, signal }: CleaningUp,
  number: number,
): Promise<void> => {
  // It is the newest now, and what it declares dead is so in all that follow: to delete it late is as good.
  const { generation } = await catalogue.read({ signal });
  const untilMs = store.clockMs() - bounds.graceMs;
  const over = generation.dead.filter(({ sinceMs = Number.POSITIVE_INFINITY }) => sinceMs <= untilMs);
  const isWorthIt = over.length >= MANY_MINOR || over.some(({ key }) => !MINOR.test(key));
  if (isWorthIt) {
    const keys = over.slice(0, DELETED_AT_ONCE).map(({ key }) => key);
    await store.delete(keys, { signal });
    counts.deleted += keys.length;
    const forget = new Set(keys);
    await catalogue.update(
      (state) => (state.generation.dead.some(({ key }) => forget.has(key)) ? { forget } : undefined),
      { signal },
    );
    return;
  }
  // Since when it is dead, the next generation says: one is made where none has been.
  const isOpen = generation.dead.some(({ key, sinceMs }) => sinceMs === undefined && !MINOR.test(key));
  if (isOpen && generation.number === number)
    await catalogue.update((state) => (state.number === number ? {} : undefined), { signal });
};
