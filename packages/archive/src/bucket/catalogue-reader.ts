// The catalogue as readers see it: the newest generation with its segments, each opened by its card, and cards of fresh uploads, which are kept on this
// machine. It must never show half of a generation, and a card must be of the object that is there.

import type { CatalogueReader, GenerationView, LiveSegment, SegmentObject } from './bucket-place.js';
import { type BucketCard, headKept, MAX_HEAD_BYTES, openForCard, openFromCard } from './card.js';
import { decodePack, encodePack } from './card-pack.js';
import type { Catalogue } from './catalogue.js';
import type { CatalogueState } from './catalogue-state.js';
import type { DiskCache } from './disk-cache.js';
import { Heads } from './heads.js';
import type { ObjectStore } from './object-store.js';

/** Reads the catalogue of a store; with `cache` what was read of segments is kept. */
export const openCatalogue = (
  store: ObjectStore,
  catalogue: Catalogue,
  cache: DiskCache | undefined,
): CatalogueReader => {
  const heads = new Heads(store);
  let shown: { readonly state: CatalogueState; readonly view: GenerationView } | undefined;

  const liveOf = (card: BucketCard): LiveSegment => {
    const { key, etag, info, filter } = card;
    return {
      key,
      size: info.bytes,
      etag,
      card: { info, mayHave: (traceId) => filter?.mayHave(traceId) ?? info.spanCount > 0 },
      open: (blocks) => openFromCard(store, card, { cache: blocks, heads, kept: cache }),
    };
  };

  return {
    read: async (signal) => {
      const state = await catalogue.read({ signal });
      if (shown?.state !== state) {
        const live = new Map([...state.live].map(([name, card]) => [name, liveOf(card)]));
        const { number, listFrom, damaged } = state;
        const view: GenerationView = {
          number,
          live,
          listFrom,
          damaged,
          knows: (segment) => state.knows(segment),
          // Of this call: the view is there for longer than what it was read for.
          everKnew: async (segment, asked) =>
            state.knows(segment) ||
            (await catalogue.foldedOf(state, new Set([segment]), { signal: asked })).has(segment),
        };
        if (listFrom !== (shown?.view.listFrom ?? '')) await cache?.write(LIST_FROM, Buffer.from(listFrom));
        shown = { state, view };
      }
      return shown.view;
    },
    freshSegment: async (object, name) => {
      const kept = await cache?.read(keptAs(name));
      const [card] = kept === undefined ? [] : await decodePack(kept, keptAs(name), '').catch(() => []);
      if (card !== undefined && isOf(card, object)) return liveOf(card);
      const { key, size, etag } = object;
      const known = etag === '' ? undefined : { size, etag };
      const opened = await openForCard({ name, key, size, etag, uploadedMs: [0, 0] }, store.transport(key, known), {
        // A fresh one that is sorted is small: its keys lie in what is read to open it.
        withFilter: true,
        // Nobody else has to take it along.
        withHead: true,
      });
      await opened.segment.close();
      await cache?.write(keptAs(name), (await encodePack([opened.card], Number.POSITIVE_INFINITY)).pack);
      // Once it is folded in, its card comes without.
      const { head } = opened.card;
      if (head !== undefined && head.length > MAX_HEAD_BYTES) await cache?.write(headKept(name), head);
      return liveOf(opened.card);
    },
    lastListFrom: async () => (await cache?.read(LIST_FROM))?.toString(),
  };
};

/** The hour from which this machine has to list. */
const LIST_FROM = 'list-from';

const keptAs = (name: string): string => `fresh-card/${name}`;

const isOf = (card: BucketCard, { key, size, etag }: SegmentObject): boolean =>
  card.key === key && card.info.bytes === size && (etag === '' || card.etag === '' || card.etag === etag);
