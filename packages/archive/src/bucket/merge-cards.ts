// Merges segments of a bucket: they are fetched into a directory, merged there as any others, and the new one is put beside them; then a generation names it
// in their place. Nothing is deleted here, and nothing may be named that was made of segments which are not live any more, or so long ago that others may
// have taken it for an orphan.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BufferTransport, CorruptError } from '@spanline/graph';
import { inParallel } from 'spanline/internal/base';
import { newestSegmentFirst, parseSegmentName } from '../directory.js';
import { mergeFiles } from '../make-segments.js';
import { chooseMerge, longestSpanMs, type MergeCandidate, type MergePolicy } from '../merge-plan.js';
import { clusteredSegment } from '../segment/cluster-segment.js';
import { type BucketCard, openForCard } from './card.js';
import type { CatalogueChange } from './catalogue.js';
import type { CatalogueState } from './catalogue-state.js';
import type { Folding } from './fold-uploads.js';
import { segmentKey } from './keys.js';
import { takeTurn, turnOf } from './merge-turn.js';

const AT_A_TIME = 4;
/** An unsorted upload waits so long for others to be merged with before it is sorted alone. */
const WAIT_MS = 30 * 60_000;
/** Merges in a row that come for nothing, and then it is left to the next look. */
const MAX_MISSES = 10;

/** What merging has to do with. */
export interface Merging extends Folding {
  readonly policy: Pick<MergePolicy, 'minSegments' | 'largestShare' | 'sortedSpans'>;
}

/** What is merged next of the live segments. */
const next = ({ store, bounds, damaged, policy }: Merging, state: CatalogueState): BucketCard[] => {
  const nowMs = store.clockMs();
  const candidates = [...state.live.values()].flatMap((card): MergeCandidate[] => {
    const file = parseSegmentName(card.name);
    if (file === undefined || damaged.has(card.name)) return [];
    const waits = policy.minSegments > 2 && nowMs - card.uploadedMs[1] < WAIT_MS;
    return [{ file, spans: card.info.spanCount, agesMs: card.uploadedMs, waits }];
  });
  candidates.sort((a, b) => newestSegmentFirst(a.file, b.file));
  const { names } = chooseMerge(candidates, {
    ...policy,
    mergedSpans: bounds.mergedSpans,
    maxSpanMs: longestSpanMs(bounds),
  });
  return names.flatMap((name) => state.live.get(name) ?? []);
};

/** Merge until there is nothing to merge. */
export const mergeCards = async (merging: Merging): Promise<void> => {
  const { catalogue, signal } = merging;
  for (let misses = 0; misses < MAX_MISSES; ) {
    signal?.throwIfAborted();
    const state = await catalogue.read({ signal });
    const inputs = next(merging, state);
    if (inputs.length === 0 || !(await takeTurn(merging, state))) return;
    const directory = mkdtempSync(join(merging.bounds.directory ?? tmpdir(), 'spanline-merge-'));
    try {
      misses = (await mergeIn(directory, inputs, merging)) ? 0 : misses + 1;
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
};

/** False when one of them is damaged, which is known then, or another maintainer was quicker. */
const mergeIn = async (directory: string, inputs: readonly BucketCard[], merging: Merging): Promise<boolean> => {
  const { store, catalogue, bounds, counts, signal } = merging;
  const names = inputs.map(({ name }) => name);
  if (!(await fetchAll(directory, inputs, merging))) return false;
  if (!(await mergeHere(directory, inputs, merging))) return false;
  const [name] = readdirSync(directory).filter((one) => parseSegmentName(one) !== undefined && !names.includes(one));
  const startedMs = store.clockMs();
  const card = await upload(directory, name, inputs, merging);
  let isLost = false;
  const state = await catalogue.update(
    (now): CatalogueChange | undefined => {
      // What was paused for long may have been declared dead, deleted and forgotten meanwhile.
      const isLate = store.clockMs() - startedMs > bounds.orphanMs / 2;
      // The answer to a commit may have been lost, and others have gone on from there.
      isLost = isLate || now.isDead(card.key) || !names.every((one) => now.live.has(one));
      return isLost || now.live.has(name) ? undefined : { add: [card], remove: names, merger: turnOf(merging, now) };
    },
    { signal },
  );
  if (isLost && !state.live.has(name)) {
    counts.lostMerges++;
    return false;
  }
  counts.merged += names.length;
  counts.written++;
  return true;
};

/** Whether all could be fetched as they are meant to be. */
const fetchAll = async (directory: string, inputs: readonly BucketCard[], merging: Merging): Promise<boolean> => {
  const { store, catalogue, counts, signal } = merging;
  const missing: BucketCard[] = [];
  await inParallel(inputs, AT_A_TIME, async (card) => {
    const found = await store.get(card.key, { signal });
    if (typeof found !== 'object' || found.bytes.length !== card.info.bytes) missing.push(card);
    else writeFileSync(join(directory, card.name), found.bytes);
  });
  if (missing.length === 0) return true;
  const state = await catalogue.read({ signal });
  const lost = missing.filter(({ name }) => state.live.has(name));
  // Merged by another, and deleted.
  if (lost.length === 0) counts.lostMerges++;
  for (const { name, key } of lost)
    report(merging, name, key, 'ERR_SPANLINE_BUCKET_DAMAGED', 'is gone or cut, and the newest generation names it');
  return false;
};

const report = ({ store, damaged }: Merging, name: string, key: string, code: string, what: string): void => {
  const file = `${store.name}/${key}`;
  damaged.set(name, { file, code, message: `${file} ${what}` });
};

/** Whether the files in a directory were merged there. */
const mergeHere = async (directory: string, inputs: readonly BucketCard[], merging: Merging): Promise<boolean> => {
  const { worker } = merging.bounds;
  const spans = inputs.reduce((sum, { info }) => sum + info.spanCount, 0);
  const task = { directory, names: inputs.map(({ name }) => name) };
  const answer =
    worker?.accepts(spans) === true ? await worker.run({ kind: 'merge', ...task }) : await mergeFiles(task);
  for (const { file, code, message } of answer?.damaged ?? []) {
    const key = inputs.find(({ name }) => name === file)?.key;
    if (key !== undefined) report(merging, file, key, code, `is damaged: ${message}`);
  }
  // A worker may have died over it, and have done all or nothing: the next time shows.
  return answer?.isDone === true;
};

/** Put a merged segment; gives its card. */
const upload = async (
  directory: string,
  name: string,
  inputs: readonly BucketCard[],
  { store, signal }: Merging,
): Promise<BucketCard> => {
  const bytes = await clusteredSegment(readFileSync(join(directory, name)));
  const key = segmentKey(name);
  const put = await store.put(key, bytes, { ifAbsent: true, signal });
  if (put === undefined)
    throw new CorruptError(`${store.name}/${key} is there, under a name that was made just now`, '');
  const times = inputs.flatMap(({ uploadedMs }) => uploadedMs);
  const object = {
    name,
    key,
    etag: put.etag,
    size: bytes.length,
    uploadedMs: [Math.min(...times), Math.max(...times)] as const,
  };
  const { card, segment } = await openForCard(object, new BufferTransport(bytes), { withFilter: true, signal });
  await segment.close();
  // Nobody has one of them beside it: names of what was merged are for a directory, where the files say it.
  return { ...card, info: { ...card.info, replaces: [] } };
};
