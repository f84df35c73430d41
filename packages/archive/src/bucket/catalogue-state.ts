// One generation as it is asked: which segments are live, which uploads are not to be looked at again. The same for readers and maintainers, who must not
// differ in what they take for a second copy.
import type { DamagedSegment } from '../archive-options.js';
import { parseSegmentName } from '../directory.js';
import type { BucketCard } from './card.js';
import type { Generation, Pack } from './generation.js';
import { baseName, parseFreshKey } from './keys.js';
import type { ListedObject } from './object-store.js';

/** A pack with its cards. */
export interface LoadedPack {
  readonly pack: Pack;
  /** All, those that are gone among them; undefined when it is damaged. */
  readonly cards: readonly BucketCard[] | undefined;
}

/** An upload that no generation has. */
export interface FreshUpload extends ListedObject {
  readonly name: string;
  readonly hour: string;
}

export class CatalogueState {
  /** By the name of the segment. */
  readonly live: ReadonlyMap<string, BucketCard>;
  readonly #folded: ReadonlySet<string>;
  readonly #dead: ReadonlySet<string>;
  readonly #deadNames: ReadonlySet<string>;

  constructor(
    readonly generation: Generation,
    /** Of the catalogue; undefined where there is none yet. */
    readonly etag: string | undefined,
    /** The generation's own key. */
    readonly key: string | undefined,
    readonly packs: readonly LoadedPack[],
    /** Of the catalogue itself, while the rest is answered. */
    readonly damaged: readonly DamagedSegment[],
  ) {
    const live = new Map<string, BucketCard>();
    for (const { pack, cards = [] } of packs) {
      const gone = new Set(pack.gone);
      cards.forEach((card, i) => {
        if (!gone.has(i)) live.set(card.name, card);
      });
    }
    this.live = live;
    this.#folded = new Set([...generation.folded.values()].flat());
    this.#dead = new Set(generation.dead.map(({ key }) => key));
    this.#deadNames = new Set(generation.dead.map(({ key }) => baseName(key)));
  }

  get number(): number {
    return this.generation.number;
  }

  get listFrom(): string {
    return this.generation.listFrom;
  }

  /**
   * Whether a segment is live, dead, or an upload that was folded, as far as one is listed from `listFrom` on. Of earlier ones
   * `Catalogue.foldedOf` knows.
   */
  knows(name: string): boolean {
    return this.live.has(name) || this.#folded.has(name) || this.#deadNames.has(name);
  }

  isDead(key: string): boolean {
    return this.#dead.has(key);
  }

  /** Of what is listed under `fresh/` the uploads that this generation does not know, each once. */
  freshOf(listed: Iterable<ListedObject>): Map<string, FreshUpload> {
    const fresh = new Map<string, FreshUpload>();
    for (const object of listed) {
      const { segment: name, hour } = parseFreshKey(object.key) ?? {};
      if (name === undefined || hour === undefined || parseSegmentName(name) === undefined) continue;
      if (!fresh.has(name) && !this.knows(name)) fresh.set(name, { ...object, name, hour });
    }
    return fresh;
  }
}
