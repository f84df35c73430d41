// The keys of the objects of an archive that writers and readers share: fresh uploads and timelines by the hour of the store's clock. A writer's own
// clock must never be in one.

const HOUR_LENGTH = '2026-11-27T10'.length;

/** The hour of a time of the store, as keys have it: `2026-11-27T10`. */
export const hourOf = (storeMs: number): string => new Date(storeMs).toISOString().slice(0, HOUR_LENGTH);

/** The beginning of an hour, Unix milliseconds. */
export const hourStartMs = (hour: string): number => Date.parse(`${hour}:00:00Z`);

/** Where a writer puts a segment. */
export const freshKey = (hour: string, segment: string): string => `fresh/${hour}/${segment}`;

/** Where it puts the timelines that go up with a segment; they are of this stretch of time, Unix milliseconds of the writer. */
export const timelineKey = (hour: string, segment: string, startMs: number, endMs: number): string =>
  `timelines/${hour}/${segment}.${startMs}-${endMs}.jsonl`;

const TIMELINE = /^timelines\/([^/]+)\/.*\.(\d{1,16})-(\d{1,16})\.jsonl$/;

/** What such a key tells; undefined for any other. */
export const parseTimelineKey = (
  key: string,
): { readonly hour: string; readonly startMs: number; readonly endMs: number } | undefined => {
  const [, hour, start, end] = TIMELINE.exec(key) ?? [];
  return hour === undefined ? undefined : { hour, startMs: Number(start), endMs: Number(end) };
};

/** The one object that changes. */
export const CATALOGUE_KEY = 'catalogue.json';

/** Where a maintainer puts a merged segment. */
export const segmentKey = (segment: string): string => `segments/${segment}`;

/** The number in the key of a generation; undefined for what is none. */
export const generationOf = (key: string): number | undefined => {
  const [, number] = /^generations\/(\d{1,15})-[0-9a-f]{12}$/.exec(key) ?? [];
  return number === undefined ? undefined : Number(number);
};

/** Where generations, packs of cards, heads beside them and packs of names of folded uploads are; `id` is a `newId`. */
export const generationKey = (number: number, id: string): string => `generations/${number}-${id}`;
export const cardsKey = (id: string): string => `cards/${id}`;
/** Of the heads beside the pack of this key. */
export const headsKeyOf = (cards: string): string => `heads/${baseName(cards)}`;
export const foldedKey = (id: string): string => `folded/${id}`;

/** The last part of a key. */
export const baseName = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

const FRESH = /^fresh\/(\d{4}-\d{2}-\d{2}T\d{2})\/([^/]+)$/;

/** What the key of an upload tells; undefined for any other. */
export const parseFreshKey = (key: string): { readonly hour: string; readonly segment: string } | undefined => {
  const [, hour, segment] = FRESH.exec(key) ?? [];
  return hour === undefined ? undefined : { hour, segment };
};
