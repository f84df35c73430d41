// The catalogue of an archive in a bucket: read as one moment, changed by compare-and-swap. Whoever changes it writes new objects and then names them; a
// change that lost the race leaves objects that nobody names, and is made again of what is there now. An object must never be deleted here, and no key
// be used twice; when an object died is known only to those who have seen the generation that says so.
import { inParallel, sleep } from 'spanline/internal/base';
import type { DamagedSegment, MaintenanceStats } from '../archive-options.js';
import { newId } from '../directory.js';
import { bucketError } from './bucket-error.js';
import type { BucketCard } from './card.js';
import { decodePack, encodePack } from './card-pack.js';
import { CatalogueState } from './catalogue-state.js';
import { FoldedNames } from './folded-names.js';
import {
  type DeadObject,
  decodeGeneration,
  decodePointer,
  encodeGeneration,
  encodeNames,
  encodePointer,
  type FoldedPack,
  type Generation,
  type Merger,
  NO_GENERATION,
  type Pack,
} from './generation.js';
import { Heads } from './heads.js';
import {
  CATALOGUE_KEY,
  cardsKey,
  foldedKey,
  generationKey,
  generationOf,
  headsKeyOf,
  hourOf,
  hourStartMs,
} from './keys.js';
import type { ObjectStore } from './object-store.js';
import { newPacks } from './pack-plan.js';

/** What is to be another way. */
export interface CatalogueChange {
  /** Segments that are live from now on. */
  readonly add?: readonly BucketCard[];
  /** Names of live segments that are dead from now on. */
  readonly remove?: readonly string[];
  /** Keys of other objects that are dead: second copies, and what nobody names. */
  readonly dead?: readonly string[];
  /** Keys of dead objects that are deleted. */
  readonly forget?: ReadonlySet<string>;
  /** Uploads that are folded with this, by the hour of their key. */
  readonly folded?: readonly { readonly hour: string; readonly name: string }[];
  /** All uploads under earlier hours are folded. */
  readonly listFrom?: string;
  /** Whether `listFrom` may be earlier than before: the store's clock was ahead then. Default false. */
  readonly reopens?: boolean;
  /** Who merges; as before when undefined. */
  readonly merger?: Merger | undefined;
}

/** Names of folded uploads are kept so long: longer than a spool tries to put one. */
const FOLDED_MS = 8 * 24 * 3_600_000;
/** The store tells its time in whole seconds. */
const CLOCK_STEP_MS = 1000;
const HOUR_MS = 3_600_000;
/** Times that others may be quicker. */
const MAX_ATTEMPTS = 30;
const PAUSE_MS = 50;
const MAX_PAUSE_MS = 2000;
/** Times that a generation may be gone when it is read: each time it is replaced, and its grace over. */
const MAX_READS = 5;
/** Objects read or written at a time. */
const AT_A_TIME = 8;

interface Call {
  readonly signal?: AbortSignal | undefined;
}

export class Catalogue {
  readonly #store: ObjectStore;
  readonly #counts = { commits: 0, conflicts: 0 };
  readonly #names: FoldedNames;
  /** What packs have, by key: of those of the state. */
  #packs = new Map<string, readonly BucketCard[]>();
  #state: CatalogueState | undefined;
  #reads = 0;
  /** The number of the read that the state is of: one that began before and ends later must not bring an older one back. */
  #stateRead = 0;

  constructor(store: ObjectStore) {
    this.#store = store;
    this.#names = new FoldedNames(store);
  }

  stats(): Pick<MaintenanceStats, 'commits' | 'conflicts'> {
    return { ...this.#counts };
  }

  /** What is there now; the same object while it is the same. */
  async read(call: Call = {}): Promise<CatalogueState> {
    const { signal } = call;
    for (let reads = 1; ; reads++) {
      const read = ++this.#reads;
      const found = await this.#store.get(CATALOGUE_KEY, { signal, ifNoneMatch: this.#state?.etag });
      if (found === 'unchanged') return this.#state as CatalogueState;
      if (found === undefined) {
        if (!(await this.#isNew(call))) {
          // Those who make it may have done so between the two looks.
          if (reads < 2) continue;
          throw this.#damage(
            CATALOGUE_KEY,
            'is gone, and generations of it are there: put back one that names the newest, as docs/formats.md says',
          );
        }
        return this.#take(read, new CatalogueState(NO_GENERATION, undefined, undefined, [], []));
      }
      const file = `${this.#store.name}/${CATALOGUE_KEY}`;
      const { key, number } = decodePointer(found.bytes, file);
      const bytes = await this.#store.get(key, { signal });
      if (typeof bytes !== 'object') {
        if (reads === MAX_READS) throw this.#damage(key, 'is gone, which the catalogue names');
        continue;
      }
      const generation = await decodeGeneration(bytes.bytes, `${this.#store.name}/${key}`);
      if (generation.number !== number) throw this.#damage(key, 'has another number than the catalogue says');
      const { packs, damaged } = await this.#load(generation.packs, call);
      // A newer generation may have replaced them, longer ago than the grace.
      if (damaged.length > 0 && reads < MAX_READS) continue;
      return this.#take(read, stateOf(generation, found.etag, key, packs, damaged));
    }
  }

  /**
   * Change it: what `change` makes of the newest state is committed, and made again when others were quicker. Gives the state then; the
   * newest one, when `change` gives undefined.
   */
  async update(
    change: (state: CatalogueState) => Promise<CatalogueChange | undefined> | CatalogueChange | undefined,
    call: Call = {},
  ): Promise<CatalogueState> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const state = await this.read(call);
      const wanted = await change(state);
      if (wanted === undefined) return state;
      const [damage] = state.damaged;
      if (damage !== undefined)
        throw bucketError('DAMAGED', `${damage.message}: nothing is changed before that is repaired`);
      const committed = await this.#commit(state, wanted, call);
      if (committed !== undefined) return committed;
      this.#counts.conflicts++;
      await sleep(Math.random() * Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** attempt), call.signal);
    }
    throw bucketError(
      'CONTENDED',
      `others changed the catalogue of ${this.#store.name} first, ${MAX_ATTEMPTS} times: run fewer maintainers`,
    );
  }

  /** Those of some names that were folded longer ago than the generation itself lists. */
  foldedOf({ generation }: CatalogueState, names: ReadonlySet<string>, { signal }: Call = {}): Promise<Set<string>> {
    return this.#names.among(generation.foldedPacks, names, signal);
  }

  /** Whether nobody has made this archive yet: one that lost its catalogue must not be taken for new, or all it has for orphans. */
  async #isNew({ signal }: Call): Promise<boolean> {
    if (this.#state !== undefined) return this.#state.etag === undefined;
    // Of the first generation there may be several, of those who make it at the same time.
    for await (const page of this.#store.list('generations/', { signal }))
      if (page.some(({ key }) => (generationOf(key) ?? 1) > 1)) return false;
    return true;
  }

  /** The state after it; undefined when another was quicker. */
  async #commit(state: CatalogueState, change: CatalogueChange, call: Call): Promise<CatalogueState | undefined> {
    const { signal } = call;
    const { generation, packs } = await this.#next(state, change, call);
    const key = generationKey(generation.number, newId());
    await this.#store.put(key, await encodeGeneration(generation), { signal });
    const bytes = encodePointer({ number: generation.number, key });
    const condition = state.etag === undefined ? { ifAbsent: true } : { ifMatch: state.etag };
    const put = await this.#store.put(CATALOGUE_KEY, bytes, { signal, ...condition });
    if (put !== undefined && put.etag !== '') {
      this.#counts.commits++;
      return this.#take(++this.#reads, stateOf(generation, put.etag, key, packs, []));
    }
    // The answer may have been lost, and what was committed be there all the same.
    const newest = await this.read(call);
    if (newest.key !== key) return undefined;
    this.#counts.commits++;
    return newest;
  }

  /** The generation behind `state`, whose packs are written. */
  async #next(
    state: CatalogueState,
    change: CatalogueChange,
    call: Call,
  ): Promise<{ readonly generation: Generation; readonly packs: Map<string, readonly BucketCard[]> }> {
    const { add = [], remove = [], dead = [], forget = new Set(), merger } = change;
    const before = state.generation;
    const removed = new Set(remove);
    const plan = newPacks(state.packs, add, removed);
    const known = new Map(state.packs.map(({ pack, cards = [] }) => [pack.key, cards]));
    const loaded = new Map(plan.kept.map(({ key }) => [key, known.get(key) ?? []]));
    const packs: Pack[] = [...plan.kept];
    const heads = new Heads(this.#store);
    await inParallel(plan.written, AT_A_TIME, async (cards) => {
      const key = cardsKey(newId());
      const { pack, heads: longer } = await encodePack(await withHeads(cards, heads));
      if (longer.length > 0) await this.#store.put(headsKeyOf(key), longer, call);
      await this.#store.put(key, pack, call);
      packs.push({ key, cards: cards.length, gone: [], bytes: pack.length, headsBytes: longer.length });
      // As others have them, without what is elsewhere now.
      loaded.set(key, await decodePack(pack, key, headsKeyOf(key)));
    });
    const names = await this.#foldedNames(before, change, call);
    const died = [
      ...remove.flatMap((name) => state.live.get(name)?.key ?? []),
      ...dead,
      ...state.packs.flatMap(({ pack: { key, headsBytes } }) =>
        plan.dropped.includes(key) ? [key, ...(headsBytes > 0 ? [headsKeyOf(key)] : [])] : [],
      ),
      ...names.dropped,
      ...(state.key === undefined ? [] : [state.key]),
    ];
    // Whoever makes this generation has seen the one before: what that one says is dead has been so until now.
    const nowMs = this.#store.clockMs() + CLOCK_STEP_MS;
    const deadObjects = new Map<string, DeadObject>();
    for (const { key, sinceMs = nowMs } of before.dead) if (!forget.has(key)) deadObjects.set(key, { key, sinceMs });
    for (const key of died) if (!deadObjects.has(key)) deadObjects.set(key, { key, sinceMs: undefined });
    const generation: Generation = {
      number: before.number + 1,
      listFrom: names.listFrom,
      packs,
      dead: [...deadObjects.values()],
      folded: names.folded,
      foldedPacks: names.packs,
      merger: merger ?? before.merger,
    };
    return { generation, packs: loaded };
  }

  /** Names of folded uploads: those of hours that nobody lists any more go into a pack, and packs go when no spool can have one of them. */
  async #foldedNames(
    before: Generation,
    { folded: more = [], listFrom: wanted = '', reopens = false }: CatalogueChange,
    call: Call,
  ): Promise<{
    readonly folded: ReadonlyMap<string, readonly string[]>;
    readonly packs: readonly FoldedPack[];
    readonly dropped: readonly string[];
    readonly listFrom: string;
  }> {
    const listFrom = wanted > before.listFrom || (reopens && wanted !== '') ? wanted : before.listFrom;
    const nowMs = this.#store.clockMs();
    const folded = new Map<string, string[]>();
    const over: string[] = [];
    // An upload may come under the next hour, too, while it is folded under this one.
    const keptFrom = listFrom === '' ? '' : hourOf(hourStartMs(listFrom) - HOUR_MS);
    const sort = (hour: string, names: readonly string[]): void => {
      if (hour < keptFrom) over.push(...names);
      else folded.set(hour, [...(folded.get(hour) ?? []), ...names]);
    };
    for (const [hour, names] of before.folded) sort(hour, names);
    for (const { hour, name } of more) sort(hour, [name]);
    const isOld = ({ lastMs }: FoldedPack): boolean => nowMs - lastMs > FOLDED_MS;
    const packs = before.foldedPacks.filter((pack) => !isOld(pack));
    const dropped = before.foldedPacks.filter(isOld).map(({ key }) => key);
    if (over.length > 0) {
      const key = foldedKey(newId());
      await this.#store.put(key, await encodeNames(over), call);
      packs.push({ key, names: over.length, lastMs: Math.ceil(nowMs) });
    }
    return { folded, packs, dropped, listFrom };
  }

  /** The cards of packs; one that cannot be read is reported. */
  async #load(
    packs: readonly Pack[],
    { signal }: Call,
  ): Promise<{ readonly packs: Map<string, readonly BucketCard[]>; readonly damaged: readonly DamagedSegment[] }> {
    const loaded = new Map<string, readonly BucketCard[]>();
    const damaged: DamagedSegment[] = [];
    await inParallel(packs, AT_A_TIME, async ({ key, cards }) => {
      const known = this.#packs.get(key);
      if (known !== undefined) {
        loaded.set(key, known);
        return;
      }
      const file = `${this.#store.name}/${key}`;
      try {
        const found = await this.#store.get(key, { signal });
        if (typeof found !== 'object') throw this.#damage(key, 'is gone, which the newest generation names');
        const read = await decodePack(found.bytes, file, headsKeyOf(key));
        if (read.length !== cards) throw this.#damage(key, `has ${read.length} cards, not ${cards}`);
        loaded.set(key, read);
      } catch (error) {
        const { code, message } = error as { readonly code?: string; readonly message: string };
        if (code !== 'ERR_SPANLINE_BUCKET_DAMAGED') throw error;
        damaged.push({ file, code, message });
      }
    });
    return { packs: loaded, damaged };
  }

  #take(read: number, state: CatalogueState): CatalogueState {
    if (read < this.#stateRead && this.#state !== undefined) return this.#state;
    this.#stateRead = read;
    this.#state = state;
    this.#packs = new Map(state.packs.flatMap(({ pack, cards }) => (cards === undefined ? [] : [[pack.key, cards]])));
    return state;
  }

  #damage(key: string, what: string): Error {
    return bucketError('DAMAGED', `${this.#store.name}/${key} ${what}`);
  }
}

/** Cards with their heads, as far as these can be read. */
const withHeads = (cards: readonly BucketCard[], heads: Heads): Promise<BucketCard[]> =>
  Promise.all(
    cards.map(async (card) => {
      if (card.head !== undefined || card.headIn === undefined) return card;
      return { ...card, head: await heads.get(card.headIn), headIn: undefined };
    }),
  );

const stateOf = (
  generation: Generation,
  etag: string,
  key: string,
  packs: ReadonlyMap<string, readonly BucketCard[]>,
  damaged: readonly DamagedSegment[],
): CatalogueState =>
  new CatalogueState(
    generation,
    etag,
    key,
    generation.packs.map((pack) => ({ pack, cards: packs.get(pack.key) })),
    damaged,
  );
