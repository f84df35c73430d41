// An archive in a bucket as queries see it: the segments that the newest generation names, fresh uploads that no maintainer has folded in yet, and what
// this process has in its spool. One segment must be there once, wherever it lies, and be there at each moment while it goes from one to the other:
// the spool is looked at first, then the bucket, and what this process has put there is known without a list. An object that the newest generation
// names and that is gone is damage; any other that is gone was merged, and the bucket is looked at again.

import { type BlockCache, GraphError, NotFoundError } from '@spanline/graph';
import { inParallel, isGone, undefinedIfGone } from 'spanline/internal/base';
import type { DamagedSegment } from '../archive-options.js';
import { type DirectoryNames, newestSegmentFirst, parseSegmentName, type SegmentName } from '../directory.js';
import type { Segment } from '../segment/segment.js';
import type { DirectoryPlace, SegmentCard, SegmentPlace } from '../segment-place.js';
import { MAINTAIN_DEFAULTS } from './bucket-options.js';
import { type BucketCard, openObject } from './card.js';
import { type CatalogueReader, type UploadedObject, versionOf } from './catalogue-reader.js';
import { CatalogueState } from './catalogue-state.js';
import { NO_GENERATION } from './generation.js';
import { hourOf, parseFreshKey } from './keys.js';
import type { ObjectStore } from './object-store.js';

/** Segments of a bucket that are asked at a time. */
const PARALLEL = 24;
/** What this process has put is known without a list for so long: longer than any list lags. */
const UPLOADED_MAX = 10_000;

/** Uploads from an hour on. */
interface Listed {
  readonly from: string;
  readonly listed: Map<string, UploadedObject>;
}

export class BucketPlace implements SegmentPlace {
  readonly parallel = PARALLEL;
  readonly #store: ObjectStore;
  readonly #catalogue: CatalogueReader;
  readonly #spool: DirectoryPlace | undefined;
  /** At first that of a bucket nobody has maintained yet. */
  #generation = new CatalogueState(NO_GENERATION, undefined, undefined, [], []);
  /** Fresh uploads by name. */
  #fresh: ReadonlyMap<string, UploadedObject> = new Map();
  /** What this process has put. */
  readonly #uploaded = new Map<string, UploadedObject>();
  readonly #freshCards = new Map<string, BucketCard>();
  /** Number of the look at which an object that was listed was gone. */
  readonly #missing = new Map<string, number>();
  #looks = 0;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #text = '';
  #names: DirectoryNames = { segments: [], wals: [] };

  constructor(store: ObjectStore, catalogue: CatalogueReader, spool: DirectoryPlace | undefined) {
    this.#store = store;
    this.#catalogue = catalogue;
    this.#spool = spool;
  }

  get name(): string {
    return this.#store.name;
  }

  get directory(): string {
    return this.#spool?.directory ?? '';
  }

  /** The generation that was read last. */
  get generation(): CatalogueState {
    return this.#generation;
  }

  /** Fresh uploads at the last look. */
  get freshUploads(): number {
    return this.#fresh.size;
  }

  async list(): Promise<DirectoryNames> {
    const spooled = (await this.#spool?.list()) ?? { segments: [], wals: [] };
    await this.#look();
    const segments = new Map<string, SegmentName>();
    for (const segment of spooled.segments) segments.set(segment.name, segment);
    for (const names of [this.#generation.live.keys(), this.#fresh.keys()])
      for (const name of names) {
        const segment = segments.has(name) ? undefined : parseSegmentName(name);
        if (segment !== undefined) segments.set(name, segment);
      }
    const names = { segments: [...segments.values()].sort(newestSegmentFirst), wals: spooled.wals };
    const text = [...names.segments, ...names.wals].map(({ name }) => name).join('\n');
    if (text === this.#text) return this.#names;
    await inParallel(this.#fresh, this.parallel, async ([name, object]) => {
      if (this.#freshCards.has(name) || spooled.segments.some((one) => one.name === name)) return;
      const known = await this.#catalogue.freshCard(object, name).catch((error: unknown) => {
        // It is opened later, and what is wrong is reported then.
        if (!(error instanceof GraphError)) throw error;
        return undefined;
      });
      if (known !== undefined) this.#freshCards.set(name, known);
    });
    for (const name of this.#freshCards.keys()) if (!segments.has(name)) this.#freshCards.delete(name);
    this.#text = text;
    this.#names = names;
    return names;
  }

  async open(name: string, cache: BlockCache): Promise<Segment> {
    const spooled = await this.#spool?.open(name, cache).catch(undefinedIfGone);
    if (spooled !== undefined) return spooled;
    const card = this.#cardOf(name);
    if (card !== undefined) return this.#catalogue.open(card, cache);
    const object = this.#fresh.get(name) ?? this.#uploaded.get(name);
    if (object === undefined) throw new NotFoundError(`${name} is not in ${this.name}`);
    return openObject(this.#store, object.key, versionOf(object), cache);
  }

  card(name: string): SegmentCard | undefined {
    const { info, filter } = this.#cardOf(name) ?? {};
    return info && { info, mayHave: (traceId) => filter?.mayHave(traceId) ?? info.spanCount > 0 };
  }

  isGone(name: string, error: unknown): boolean {
    if (isGone(error)) return true;
    if (!(error instanceof NotFoundError)) return false;
    const seen = this.#missing.get(name);
    this.#missing.set(name, this.#looks);
    // Gone again, after the newest generation named it: it will not come back.
    return seen === undefined || seen === this.#looks;
  }

  faults(): readonly DamagedSegment[] {
    return this.#generation.damaged;
  }

  async bytesOf(names: readonly string[]): Promise<number> {
    let bytes = 0;
    const others: string[] = [];
    for (const name of names) {
      const size = this.#generation.live.get(name)?.info.bytes ?? this.#fresh.get(name)?.size;
      if (size === undefined) others.push(name);
      else bytes += size;
    }
    return bytes + ((await this.#spool?.bytesOf(others)) ?? 0);
  }

  /** This process has put a segment. */
  uploaded(name: string, key: string, size: number): void {
    this.#uploaded.set(name, { key, size, etag: '' });
    for (const oldest of this.#uploaded.keys()) {
      if (this.#uploaded.size <= UPLOADED_MAX) break;
      this.#uploaded.delete(oldest);
    }
  }

  #cardOf(name: string): BucketCard | undefined {
    return this.#generation.live.get(name) ?? this.#freshCards.get(name);
  }

  /** Look at the bucket, from now on: a look that began before does not count, but one that waits for it is shared. */
  #look(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#lookNow().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.#look();
      });
    return this.#next;
  }

  async #lookNow(): Promise<void> {
    const before = this.#generation;
    const [generation, first] = await Promise.all([
      this.#catalogue.read(),
      this.#looks > 0 ? this.#listFrom(this.#hourToList(before)) : this.#listFirst(),
    ]);
    // A newer generation lists from later on: what was listed is more than that. Unless it was another archive that this machine has heard of.
    const from = this.#hourToList(generation);
    const isEnough = first !== undefined && first.from <= from;
    const { listed: fresh } = isEnough ? first : await this.#listFrom(from);
    for (const [name, object] of this.#uploaded) {
      // What was taken in long ago is known by its hour alone.
      const isOver = (parseFreshKey(object.key)?.hour ?? '') < from;
      if (isOver || generation.knows(name)) this.#uploaded.delete(name);
      else if (!fresh.has(name)) fresh.set(name, object);
    }
    for (const name of fresh.keys()) if (generation.knows(name)) fresh.delete(name);
    this.#looks++;
    this.#generation = generation;
    this.#fresh = fresh;
    for (const name of this.#missing.keys())
      if (!fresh.has(name) && !generation.live.has(name)) this.#missing.delete(name);
  }

  /** The hour from which uploads are listed: none that is still to come, or they would be missed after the store's clock has been ahead. */
  #hourToList({ listFrom }: CatalogueState): string {
    const now = hourOf(this.#store.clockMs() - MAINTAIN_DEFAULTS.lateMs);
    return now < listFrom ? now : listFrom;
  }

  /** From the hour that this machine has heard of; where it has not, the catalogue says from which. */
  async #listFirst(): Promise<Listed | undefined> {
    const from = await this.#catalogue.lastListFrom();
    return from === undefined ? undefined : this.#listFrom(from);
  }

  async #listFrom(from: string): Promise<Listed> {
    const found = new Map<string, UploadedObject>();
    const startAfter = from === '' ? undefined : `fresh/${from}/`;
    for await (const page of this.#store.list('fresh/', { startAfter })) {
      for (const { key, size, etag } of page) {
        const name = key.slice(key.lastIndexOf('/') + 1);
        // The first of several copies counts.
        if (parseSegmentName(name) !== undefined && !found.has(name)) found.set(name, { key, size, etag });
      }
    }
    return { from, listed: found };
  }
}
