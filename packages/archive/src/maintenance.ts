// Merges small segments, deletes old ones, and takes over the write-ahead files of writers that died, which become segments. One process at a time
// merges and deletes: each shows a file of its own and looks for those of others; two that come at once both step back. Any process may be killed
// here at any moment: a segment says what it replaces, so nothing is lost and nothing is seen twice. A file that cannot be taken over, for want of
// room on the disk say, stays where it is, is read as before, and must keep nobody from opening the archive.

import { readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TransportError } from '@spanline/graph';
import { attempt, isGone, timers } from 'spanline/internal/base';
import type { ArchiveStats, Retention } from './archive-options.js';
import {
  damagedWalName,
  isInUse,
  lockName,
  newId,
  type OwnedName,
  parseLockName,
  type SegmentName,
  use,
  walName,
} from './directory.js';
import { mergeSegments, removeFiles, writeSpansTo } from './make-segments.js';
import { chooseMerge, type Merge, type MergeCandidate, type MergePolicy } from './merge-plan.js';
import type { SegmentSet } from './segment-set.js';
import { damageOf, readWalRows } from './wal/wal-frames.js';
import type { SealAnswer, WorkThread } from './work-thread.js';

/** Milliseconds between two signs of life. */
const BEAT_MS = 5000;

/** Runs `work` unless another does the same in this directory; undefined then. */
const withLock = async <T>(directory: string, work: () => Promise<T>): Promise<T | undefined> => {
  const name = lockName(newId());
  const path = join(directory, name);
  const release = use(path);
  let beat: NodeJS.Timeout | undefined;
  try {
    writeFileSync(path, '', { flag: 'wx' });
    beat = timers.setInterval(() => touch(path), BEAT_MS).unref();
    if (isTaken(directory, name)) return undefined;
    return await work();
  } finally {
    timers.clearInterval(beat);
    rmSync(path, { force: true });
    release();
  }
};

const touch = (path: string): void => {
  const now = timers.wallMs() / 1000;
  // It fails where somebody took it for a dead one's; what is in flight is finished all the same.
  attempt(() => utimesSync(path, now, now));
};

const isTaken = (directory: string, own: string): boolean => {
  let isTakenByOther = false;
  for (const name of readdirSync(directory)) {
    const lock = name === own ? undefined : parseLockName(name);
    if (lock === undefined) continue;
    const path = join(directory, name);
    if (isInUse(lock.owner, path)) isTakenByOther = true;
    else rmSync(path, { force: true });
  }
  return isTakenByOther;
};

/** Merges until there is nothing to merge by `policy`; gives the number merged, 0 while another process is at it. */
export const compact = async (set: SegmentSet, policy: MergePolicy, worker: WorkThread): Promise<number> => {
  const merged = await withLock(set.directory, async () => {
    let count = 0;
    let isHere = false;
    for (;;) {
      const { names, spans } = await nextMerge(set, await cleanList(set), policy);
      if (names.length === 0) return count;
      if (!isHere && worker.accepts(spans)) {
        const answer = await worker.run({ kind: 'merge', directory: set.directory, names });
        // The worker died, and may have been done: what there is to merge is looked up again, and merged here.
        isHere = answer === undefined;
        for (const damage of answer?.damaged ?? []) set.report(damage.file, damage);
        if (answer?.isDone) count += names.length;
      } else {
        isHere = false;
        // Damage may turn up: known then, it is not chosen again.
        if (await mergeSegments(set, names)) count += names.length;
      }
    }
  });
  return merged ?? 0;
};

/** Deletes segments that are too old, then the oldest of those that are too many; gives their number, 0 while another process is at it. */
export const retain = async (set: SegmentSet, { maxAgeMs, maxBytes }: Retention): Promise<number> => {
  if (maxAgeMs === undefined && maxBytes === undefined) return 0;
  const deleted = await withLock(set.directory, async () => {
    const segments = await cleanList(set);
    const oldest = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : timers.wallMs() - maxAgeMs;
    const names: string[] = [];
    let bytes = 0;
    // The newest first: what does not fit any more is older than what does.
    for (const { name, endMs } of segments) {
      bytes += await set.place.bytesOf([name]);
      if (endMs < oldest || bytes > (maxBytes ?? Number.POSITIVE_INFINITY)) names.push(name);
    }
    // The oldest first: whenever this ends, it is the newest that are left.
    removeFiles(set.directory, names.reverse());
    return names.length;
  });
  return deleted ?? 0;
};

/** The segments, when what others replaced is deleted: it must be gone before those that replace it are. */
const cleanList = async (set: SegmentSet): Promise<readonly SegmentName[]> => {
  const { segments, replaced } = await set.list();
  removeFiles(set.directory, replaced);
  return segments;
};

/** What is merged next of some segments, without those that are damaged: they stay where they are, for salvage. */
const nextMerge = async (set: SegmentSet, segments: readonly SegmentName[], policy: MergePolicy): Promise<Merge> => {
  const damaged = new Set(set.damaged().map(({ file }) => file));
  const candidates: MergeCandidate[] = [];
  for (const file of segments) {
    const card = damaged.has(file.name) ? undefined : await set.card(file.name);
    if (card !== undefined) candidates.push({ file, spans: card.info.spanCount });
  }
  return chooseMerge(candidates, policy);
};

/** How many segments wait to be sorted. */
export const unsortedIn = async (set: SegmentSet): Promise<number> =>
  (await set.list()).segments.filter(({ isSorted }) => !isSorted).length;

/** Counts of what recovery found; of files that could not be taken over, too, and why the last one could not. */
type RecoveryCounts = {
  -readonly [K in 'recoveredFiles' | 'recoveredSpans' | 'tornBytes' | 'failures' | 'lastFailure']: ArchiveStats[K];
};

/** What became of one file. */
type Taken = Omit<SealAnswer, 'isDone'>;

/** Age after which leftovers of crashed writers under temporary names are deleted. */
const LEFTOVER_MS = 60 * 60 * 1000;
/** Bytes of a span in a write-ahead file, about: to guess how many there are. */
const SPAN_BYTES = 100;

/** Make segments of the write-ahead files whose writers are gone; `counts` are raised by what is found. */
export const recover = async (set: SegmentSet, worker: WorkThread, counts: RecoveryCounts): Promise<void> => {
  const { wals, replaced } = await set.list();
  // A crash left them; living ones are about to delete theirs.
  for (const name of replaced) rmSync(join(set.directory, name), { force: true });
  // These make room for what comes.
  removeLeftovers(set.directory);
  for (const wal of wals) {
    if (isInUse(wal.owner, join(set.directory, wal.name))) continue;
    try {
      const taken = await takeOver(set, wal, worker);
      if (taken === undefined) continue;
      counts.recoveredFiles++;
      counts.recoveredSpans += taken.spans;
      counts.tornBytes += taken.tornBytes;
    } catch (error) {
      if (!isOfDisk(error)) throw error;
      counts.failures++;
      counts.lastFailure = String(error);
    }
  }
};

/** Whether an error is of the disk or of one file on it, and not a bug. */
const isOfDisk = (error: unknown): boolean =>
  error instanceof TransportError || (error as NodeJS.ErrnoException).syscall !== undefined;

/** Make a segment of one file; undefined when another was quicker. */
const takeOver = async (set: SegmentSet, { name, id }: OwnedName, worker: WorkThread): Promise<Taken | undefined> => {
  const [from, path] = [join(set.directory, name), join(set.directory, walName(id))];
  const release = use(path);
  try {
    // From here on it is the file of a living owner. Of several that try, one can rename it.
    const now = timers.wallMs() / 1000;
    utimesSync(from, now, now);
    renameSync(from, path);
    const taken = (await sealInWorker(set, path, id, worker)) ?? (await sealHere(set, path, id));
    if (taken.damage === undefined) rmSync(path, { force: true });
    else putAside(set, path, id, taken.damage);
    return taken;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  } finally {
    release();
  }
};

/** Some of the file could not be read: its bytes are left to whoever can make more of them. */
const putAside = (set: SegmentSet, path: string, id: string, damage: string): void => {
  const file = damagedWalName(id);
  renameSync(path, join(set.directory, file));
  const message = `${damage}; the file is put aside as ${file}, and can be deleted`;
  set.reportForGood({ file, code: 'ERR_SPANLINE_GRAPH_CORRUPT', message });
};

/** The one who had a file may have been killed between making the segment and deleting the file. */
const isWanted = async (set: SegmentSet, id: string): Promise<boolean> =>
  (await set.list()).wals.some((wal) => wal.id === id);

/** Undefined when it must be done here, or was done by a worker that died over it. */
const sealInWorker = async (
  set: SegmentSet,
  path: string,
  id: string,
  worker: WorkThread,
): Promise<Taken | undefined> => {
  if (!(await isWanted(set, id)) || !worker.accepts(statSync(path).size / SPAN_BYTES, statSync(path).size))
    return undefined;
  const { directory } = set;
  const answer = await worker.run({ kind: 'seal', directory, path, replaces: id });
  return answer?.isDone ? answer : undefined;
};

const sealHere = async (set: SegmentSet, path: string, id: string): Promise<Taken> => {
  const isNeeded = await isWanted(set, id);
  const read = readWalRows(path);
  const { rows, tornBytes } = read;
  if (isNeeded && rows.count > 0) writeSpansTo(set.directory, rows, [id]);
  return isNeeded ? { spans: rows.count, tornBytes, damage: damageOf(path, read)?.message } : { spans: 0, tornBytes };
};

const removeLeftovers = (directory: string): void => {
  for (const name of readdirSync(directory)) {
    if (!/^\.seg-.*\.tmp$/.test(name)) continue;
    const path = join(directory, name);
    // It fails where its writer finished or removed it meanwhile.
    attempt(() => {
      if (timers.wallMs() - statSync(path).mtimeMs > LEFTOVER_MS) rmSync(path, { force: true });
    });
  }
};
