// Takes what writers have uploaded into the catalogue: nothing is copied, the card names the object where it is. Each name is taken once, whenever its copies
// come and whoever else folds; a second copy is declared dead. An hour must not be closed for readers while an upload under it is known and not folded.
import { inParallel } from 'spanline/internal/base';
import type { DamagedSegment } from '../archive-options.js';
import type { MaintainBounds, MaintainCounts } from './bucket-options.js';
import { type BucketCard, makeCard } from './card.js';
import type { CatalogueChange } from './catalogue.js';
import type { CatalogueState, FreshUpload } from './catalogue-state.js';
import { baseName, hourOf, parseFreshKey } from './keys.js';
import { type Turn, turnOf } from './merge-turn.js';
import type { ListedObject } from './object-store.js';

/** Uploads folded by one commit at most: their cards are in memory. */
const FOLDED_AT_ONCE = 2000;
/** Cards made at a time. */
const AT_A_TIME = 8;
/** The clock of a store that is ahead by less was just read before and after the turn of an hour. */
const AHEAD_MS = 60_000;

/** What folding has to do with. */
export interface Folding extends Turn {
  readonly bounds: MaintainBounds;
  readonly counts: MaintainCounts;
  /** By name: of segments that cannot be read, which are not tried again. */
  readonly damaged: Map<string, DamagedSegment>;
}

/** What there is under `fresh/` that no generation knows. */
interface Found {
  readonly uploads: readonly FreshUpload[];
  /** Further copies: of an upload that a generation knows, or of one of `uploads`. */
  readonly copies: readonly { readonly key: string; readonly name: string; readonly isKnown: boolean }[];
}

/** Uploads and second copies among listed objects, for the generation of `state`. */
const sortOut = async (
  { catalogue, signal }: Folding,
  state: CatalogueState,
  listed: readonly ListedObject[],
): Promise<Found> => {
  const liveKeys = new Set([...state.live.values()].map(({ key }) => key));
  const unnamed = listed.filter(({ key }) => !(liveKeys.has(key) || state.isDead(key)));
  const fresh = state.freshOf(unnamed);
  const folded = await catalogue.foldedOf(state, new Set(fresh.keys()), { signal });
  const isKnown = (name: string): boolean => state.knows(name) || folded.has(name);
  const uploads = [...fresh.values()].filter(({ name }) => !folded.has(name));
  const copies = unnamed.flatMap(({ key }) => {
    const name = baseName(key);
    if (parseFreshKey(key) === undefined) return [];
    if (isKnown(name)) return [{ key, name, isKnown: true }];
    const upload = fresh.get(name);
    return upload === undefined || upload.key === key ? [] : [{ key, name, isKnown: false }];
  });
  return { uploads, copies };
};

/** Everything below `fresh/`: a listing of what waits to be merged and deleted, and of uploads that came late. */
const listUploads = async ({ store, signal }: Folding): Promise<ListedObject[]> => {
  const listed: ListedObject[] = [];
  for await (const page of store.list('fresh/', { signal })) listed.push(...page);
  return listed;
};

/** Fold what is there; resolves when a generation has it. */
export const foldUploads = async (folding: Folding): Promise<void> => {
  const { store, catalogue, bounds, counts, damaged, signal } = folding;
  // Asks the store, whose clock is known then.
  await catalogue.read({ signal });
  const listedMs = store.clockMs();
  const listed = await listUploads(folding);
  const found = await sortOut(folding, await catalogue.read({ signal }), listed);
  const waiting = found.uploads.filter(({ name }) => !damaged.has(name));
  const { cards, failure } = await cardsOf(folding, waiting.slice(0, FOLDED_AT_ONCE));
  const left = waiting.filter(({ name }) => !(cards.has(name) || damaged.has(name)));
  // Readers list from here on: what may still be coming, or was left, lies behind it.
  const closedAt = (ms: number): string => [hourOf(ms - bounds.lateMs), ...left.map(({ hour }) => hour)].sort()[0];
  let closed = closedAt(listedMs);
  let folded: FreshUpload[] = [];
  let copies: readonly string[] = [];
  await catalogue.update(
    async (state): Promise<CatalogueChange | undefined> => {
      // One that was paused for so long cannot know any more what was folded and forgotten since.
      folded = [];
      copies = [];
      const nowMs = store.clockMs();
      if (nowMs - listedMs > bounds.orphanMs / 2) return undefined;
      // Closed when the store's clock was ahead: uploads come under earlier hours now.
      const isAhead = hourOf(nowMs - bounds.lateMs + AHEAD_MS) < state.listFrom;
      closed = closedAt(Math.min(nowMs, listedMs));
      const now = await sortOut(folding, state, listed);
      folded = now.uploads.filter(({ name }) => cards.has(name));
      // A copy goes only when another is there for sure.
      copies = now.copies.filter(({ name, isKnown }) => isKnown || cards.has(name)).map(({ key }) => key);
      const closes = isAhead || (closed > state.listFrom && isWorthClosing(state));
      if (folded.length === 0 && copies.length === 0 && !closes) return undefined;
      return {
        add: folded.flatMap(({ name }) => cards.get(name) ?? []),
        folded: folded.map(({ name, hour }) => ({ name, hour })),
        dead: copies,
        listFrom: closed,
        reopens: isAhead,
        // What was folded is to be merged.
        merger: turnOf(folding, state),
      };
    },
    { signal },
  );
  counts.folded += folded.length;
  counts.stragglers += folded.filter(({ hour }) => hour < closed).length;
  counts.copies += copies.length;
  // What could be folded is.
  if (failure !== undefined) throw failure;
};

/** An archive in which nothing happens is not written every hour: a listing of nothing costs the same from any hour on. */
const isWorthClosing = ({ generation }: CatalogueState): boolean => generation.folded.size > 0;

/** The cards of uploads, by name; without those that are gone meanwhile, or damaged, which is reported; and why others failed. */
const cardsOf = async (
  { store, damaged, signal }: Folding,
  uploads: readonly FreshUpload[],
): Promise<{ readonly cards: ReadonlyMap<string, BucketCard>; readonly failure: unknown }> => {
  const cards = new Map<string, BucketCard>();
  let failure: unknown;
  await inParallel(uploads, AT_A_TIME, async ({ name, key, size, etag, lastModifiedMs }) => {
    const uploadedMs = [lastModifiedMs, lastModifiedMs] as const;
    try {
      cards.set(name, await makeCard(store, { name, key, size, etag, uploadedMs }, { signal }));
    } catch (error) {
      const { code, message } = error as { readonly code?: string; readonly message: string };
      // A listing may be older than what was deleted.
      if (code === 'ERR_SPANLINE_GRAPH_NOT_FOUND') return;
      if (DAMAGE.has(code ?? '')) damaged.set(name, { file: `${store.name}/${key}`, code: code as string, message });
      else failure ??= error;
    }
  });
  return { cards, failure };
};

/** Codes of objects that will be no better the next time. */
const DAMAGE = new Set([
  'ERR_SPANLINE_GRAPH_CORRUPT',
  'ERR_SPANLINE_GRAPH_TRUNCATED',
  'ERR_SPANLINE_GRAPH_BAD_SIGNATURE',
  'ERR_SPANLINE_GRAPH_UNSUPPORTED_VERSION',
  'ERR_SPANLINE_GRAPH_LIMIT',
]);
