// Which cards are written again when some come and some go: packs stay as they are as long as most of their cards are live, and small ones are joined with
// what is new, so that each card is written a few times in all and a reader has few packs to read. No live card may be lost, and none be in two packs.
import { compare } from '../values/fields.js';
import type { BucketCard } from './card.js';
import type { LoadedPack } from './catalogue-state.js';
import type { Pack } from './generation.js';

/** Cards of a pack at most. */
const PACK_CARDS = 100;
/** A pack of which less than this share is live is written again. */
const MIN_LIVE = 0.25;

/** What becomes of packs. */
interface PackPlan {
  readonly kept: readonly Pack[];
  /** Cards of each new pack. */
  readonly written: readonly (readonly BucketCard[])[];
  /** Keys of packs that are named no longer. */
  readonly dropped: readonly string[];
}

interface Part {
  readonly pack: Pack;
  readonly live: readonly BucketCard[];
}

/** The packs when segments come and segments of some names go. */
export const newPacks = (
  packs: readonly LoadedPack[],
  add: readonly BucketCard[],
  remove: ReadonlySet<string>,
): PackPlan => {
  const parts = packs.map(({ pack, cards = [] }): Part => {
    const before = new Set(pack.gone);
    const gone = [...cards.keys()].filter((i) => before.has(i) || remove.has(cards[i].name));
    const now = new Set(gone);
    return { pack: gone.length === before.size ? pack : { ...pack, gone }, live: cards.filter((_, i) => !now.has(i)) };
  });
  const cards = [...add];
  const kept: Pack[] = [];
  const dropped: string[] = [];
  // The smallest first: one is written again with as many others at least, or because little of it is live.
  for (const { pack, live } of parts.sort((a, b) => a.live.length - b.live.length)) {
    const isSmall = cards.length > 0 && live.length <= 2 * cards.length && live.length <= PACK_CARDS / 2;
    if (live.length > 0 && !isSmall && live.length >= MIN_LIVE * pack.cards) {
      kept.push(pack);
      continue;
    }
    dropped.push(pack.key);
    cards.push(...live);
  }
  // Neighbours in time together.
  cards.sort((a, b) => compare(a.info.endUnixNs, b.info.endUnixNs));
  const written: BucketCard[][] = [];
  for (let i = 0; i < cards.length; i += PACK_CARDS) written.push(cards.slice(i, i + PACK_CARDS));
  return { kept, written, dropped };
};
