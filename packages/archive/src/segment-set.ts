// The segments of a place, opened when they are needed and closed when too many are open. What is small of each stays in memory, so that
// one that cannot have a trace is not opened again. A segment that cannot be read is reported and the others answer.
import { AbortedError, BlockCache, ClosedError, GraphError, TransportError } from '@spanline/graph';
import { inParallel } from 'spanline/internal/base';
import type { DamagedSegment } from './archive-options.js';
import { type DirectoryNames, type OwnedName, type SegmentName, VanishedError } from './directory.js';
import type { Segment } from './segment/segment.js';
import type { SegmentCard, SegmentPlace } from './segment-place.js';

/** What is there now. */
export interface Listing {
  /** Segments that no other one replaces, the one that ends last first. */
  readonly segments: readonly SegmentName[];
  /** Write-ahead files that no segment replaces. */
  readonly wals: readonly OwnedName[];
  /** Names of files that a segment replaces and that are still there: a crash left them. */
  readonly replaced: readonly string[];
  /** Names of segments and identities of write-ahead files that a segment stands for, there or not. */
  readonly stoodFor: ReadonlySet<string>;
}

/** A segment that stays open until it is released. */
export interface PinnedSegment {
  readonly segment: Segment;
  readonly report: (error: GraphError) => void;
  readonly release: () => void;
}

/** Whether an error is of the file, and not of the one who asks. */
const isOfFile = (error: unknown): error is GraphError =>
  error instanceof GraphError && !(error instanceof AbortedError || error instanceof ClosedError);

/** Damaged files that were put aside and are named, at most. */
const MAX_PUT_ASIDE = 1000;

/** Times that a place is looked at; one that changes faster is broken. */
const MAX_LOOKS = 100;

/** What `look` sees of `place` at one moment: it looks again whenever a segment goes meanwhile. */
export const atOneMoment = async <T>({ name }: SegmentPlace, look: () => Promise<T>): Promise<T> => {
  for (let looks = 1; ; looks++) {
    try {
      return await look();
    } catch (error) {
      if (!(error instanceof VanishedError)) throw error;
      if (looks === MAX_LOOKS) throw new TransportError(`${name} cannot be read: ${error.message}, again and again`);
    }
  }
};

interface OpenSegment {
  readonly segment: Promise<Segment>;
  users: number;
  /** Closed when the last user leaves. */
  isDropped: boolean;
}

/** Called for what cannot be read while the rest answers. */
export type OnDamage = (damage: DamagedSegment) => void;

/** Opens segments and shares them among queries. */
export class SegmentSet {
  readonly #maxOpen: number;
  readonly #open = new Map<string, OpenSegment>();
  readonly #cards = new Map<string, SegmentCard>();
  readonly #cache: BlockCache;
  #listed: DirectoryNames | undefined;
  #listing: Listing = { segments: [], wals: [], replaced: [], stoodFor: new Set() };
  /** Of files that were put aside. */
  readonly #putAside: DamagedSegment[] = [];
  readonly #damagedByName = new Map<string, DamagedSegment>();

  constructor(
    readonly place: SegmentPlace,
    maxOpen: number,
    cacheBytes: number,
  ) {
    this.#maxOpen = maxOpen;
    this.#cache = new BlockCache(cacheBytes);
  }

  /** Where its write-ahead files are. */
  get directory(): string {
    return this.place.directory;
  }

  /** What is there at one moment. */
  list(): Promise<Listing> {
    return atOneMoment(this.place, () => this.#look());
  }

  async #look(): Promise<Listing> {
    const names = await this.place.list();
    if (names === this.#listed) return this.#listing;
    this.#forget(names);
    const stoodFor = new Set<string>();
    await inParallel(names.segments, this.place.parallel, async ({ name }) => {
      for (const other of (await this.card(name))?.info.replaces ?? []) stoodFor.add(other);
    });
    const segments = names.segments.filter(({ name }) => !stoodFor.has(name));
    const wals = names.wals.filter(({ id }) => !stoodFor.has(id));
    const kept = new Set([...segments, ...wals].map(({ name }) => name));
    const all = [...names.segments, ...names.wals].map(({ name }) => name);
    const listing = { segments, wals, replaced: all.filter((name) => !kept.has(name)), stoodFor };
    // One that could not be opened may be some other time.
    if (names.segments.every(({ name }) => this.#knows(name))) {
      this.#listed = names;
      this.#listing = listing;
    }
    return listing;
  }

  /** What is known of a segment; undefined when it cannot be opened. */
  async card(name: string, onDamage?: OnDamage): Promise<SegmentCard | undefined> {
    const known = this.#cards.get(name) ?? this.place.card?.(name);
    if (known !== undefined) return known;
    return this.use(
      name,
      async (segment) => {
        const card = { info: segment.info, mayHave: segment.filter };
        this.#cards.set(name, card);
        return card;
      },
      onDamage,
    );
  }

  /**
   * What `work` makes of one segment; undefined when it is damaged, which is reported. Throws `VanishedError` when it is not there any
   * more. `work` reports damage that spoils only a part.
   */
  async use<T>(
    name: string,
    work: (segment: Segment, report: (error: GraphError) => void) => Promise<T>,
    onDamage?: OnDamage,
  ): Promise<T | undefined> {
    const pinned = await this.hold(name, onDamage);
    if (pinned === undefined) return undefined;
    try {
      return await work(pinned.segment, pinned.report);
    } catch (error) {
      if (!isOfFile(error)) throw error;
      if (this.place.isGone(name, error)) throw new VanishedError(name);
      pinned.report(error);
      return undefined;
    } finally {
      pinned.release();
    }
  }

  /** Open a segment, which stays open until it is released, also when its file is deleted; else as `use`. */
  async hold(name: string, onDamage?: OnDamage): Promise<PinnedSegment | undefined> {
    const report = (error: GraphError): void => this.report(name, error, onDamage);
    const entry = this.#acquire(name);
    try {
      return { segment: await entry.segment, report, release: () => this.#release(name, entry) };
    } catch (error) {
      entry.isDropped = true;
      this.#release(name, entry);
      if (!isOfFile(error)) throw error;
      if (this.place.isGone(name, error)) throw new VanishedError(name);
      report(error);
      return undefined;
    }
  }

  /** Remember that a file cannot be read, or not all of it. */
  report(name: string, { code, message }: Pick<DamagedSegment, 'code' | 'message'>, onDamage?: OnDamage): void {
    const damage = { file: name, code, message };
    if (!this.#damagedByName.has(name)) this.#damagedByName.set(name, damage);
    onDamage?.(damage);
  }

  /** Remember damage of a file that is not read again. */
  reportForGood(damage: DamagedSegment): void {
    if (this.#putAside.length < MAX_PUT_ASIDE) this.#putAside.push(damage);
  }

  damaged(): readonly DamagedSegment[] {
    return [...this.#damagedByName.values(), ...this.#putAside];
  }

  async close(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map(async ({ segment }) => (await segment.catch(() => undefined))?.close()));
  }

  /** Nothing is kept of files that are gone. */
  #forget({ segments, wals }: DirectoryNames): void {
    const present = new Set([...segments, ...wals].map(({ name }) => name));
    for (const name of this.#cards.keys()) if (!present.has(name)) this.#cards.delete(name);
    for (const name of this.#damagedByName.keys()) if (!present.has(name)) this.#damagedByName.delete(name);
    for (const [name, entry] of this.#open) if (!present.has(name)) this.#drop(name, entry);
  }

  #knows(name: string): boolean {
    return this.#cards.has(name) || this.place.card?.(name) !== undefined;
  }

  #acquire(name: string): OpenSegment {
    let entry = this.#open.get(name);
    if (entry === undefined || entry.isDropped) {
      entry = { segment: this.place.open(name, this.#cache), users: 0, isDropped: false };
    }
    // Behind the others: the first is the one used longest ago.
    this.#open.delete(name);
    this.#open.set(name, entry);
    entry.users++;
    return entry;
  }

  #release(name: string, entry: OpenSegment): void {
    entry.users--;
    if (entry.isDropped) this.#drop(name, entry);
    for (const [oldest, candidate] of this.#open) {
      if (this.#open.size <= this.#maxOpen) break;
      if (candidate.users === 0) this.#drop(oldest, candidate);
    }
  }

  #drop(name: string, entry: OpenSegment): void {
    entry.isDropped = true;
    if (this.#open.get(name) === entry) this.#open.delete(name);
    if (entry.users === 0)
      void entry.segment.then(
        (segment) => segment.close(),
        () => {},
      );
  }
}
