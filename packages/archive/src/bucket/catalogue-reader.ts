// The catalogue as readers see it: the newest generation with its segments, each opened by its card, and cards of fresh uploads, which are kept on this
// machine. It must never show half of a generation, and a card must be of the object that is there.

import type { BlockCache } from '@spanline/graph';
import type { Segment } from '../segment/segment.js';
import { type BucketCard, headKept, MAX_HEAD_BYTES, openForCard, openFromCard } from './card.js';
import { decodePack, encodePack } from './card-pack.js';
import type { Catalogue } from './catalogue.js';
import type { CatalogueState } from './catalogue-state.js';
import type { DiskCache } from './disk-cache.js';
import { Heads } from './heads.js';
import type { ListedObject, ObjectStore, ObjectVersion } from './object-store.js';

/** An object that is a segment; its `etag` is empty where it is not known. */
export type UploadedObject = Omit<ListedObject, 'lastModifiedMs'>;

/** The version of an object, where it is known. */
export const versionOf = ({ size, etag }: UploadedObject): ObjectVersion | undefined =>
  etag === '' ? undefined : { size, etag };

/** What reads the catalogue of a store; with `cache` what was read of segments is kept. */
export type CatalogueReader = ReturnType<typeof openCatalogue>;

export const openCatalogue = (store: ObjectStore, catalogue: Catalogue, cache: DiskCache | undefined) => {
  const heads = new Heads(store);
  let listed = '';
  return {
    /** The newest generation; the same object while it is the same. */
    read: async (signal?: AbortSignal): Promise<CatalogueState> => {
      const state = await catalogue.read({ signal });
      if (state.listFrom !== listed) await cache?.write(LIST_FROM, Buffer.from(state.listFrom));
      listed = state.listFrom;
      return state;
    },
    /** Whether a name is live, dead or was merged, of any upload that a spool may still try to put. */
    everKnew: async (state: CatalogueState, segment: string, signal?: AbortSignal): Promise<boolean> =>
      state.knows(segment) || (await catalogue.foldedOf(state, new Set([segment]), { signal })).has(segment),
    /** Open a segment, for as few requests as its card allows. */
    open: (card: BucketCard, blocks: BlockCache): Promise<Segment> =>
      openFromCard(store, card, { cache: blocks, heads, kept: cache }),
    /** The card of a fresh upload, made of it unless this machine has it. Rejects as opening it does. */
    freshCard: async (object: UploadedObject, name: string): Promise<BucketCard> => {
      const kept = await cache?.read(keptAs(name));
      const [card] = kept === undefined ? [] : await decodePack(kept, keptAs(name), '').catch(() => []);
      if (card !== undefined && isOf(card, object)) return card;
      const { key, size, etag } = object;
      const opened = await openForCard(
        { name, key, size, etag, uploadedMs: [0, 0] },
        store.transport(key, versionOf(object)),
        // A fresh one that is sorted is small: its keys lie in what is read to open it. Its head nobody else has to take along.
        { withFilter: true, withHead: true },
      );
      await opened.segment.close();
      await cache?.write(keptAs(name), (await encodePack([opened.card], Number.POSITIVE_INFINITY)).pack);
      // Once it is folded in, its card comes without.
      const { head } = opened.card;
      if (head !== undefined && head.length > MAX_HEAD_BYTES) await cache?.write(headKept(name), head);
      return opened.card;
    },
    /** The hour from which this machine listed the last time. */
    lastListFrom: async (): Promise<string | undefined> => (await cache?.read(LIST_FROM))?.toString(),
  };
};

/** The hour from which this machine has to list. */
const LIST_FROM = 'list-from';

const keptAs = (name: string): string => `fresh-card/${name}`;

const isOf = (card: BucketCard, { key, size, etag }: UploadedObject): boolean =>
  card.key === key && card.info.bytes === size && (etag === '' || card.etag === '' || card.etag === etag);
