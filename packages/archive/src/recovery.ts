// Takes over what writers that died have left: their write-ahead files become segments. Several processes may try at once, and any may be
// killed at any moment: nothing is lost and nothing is seen twice. A file that cannot be taken over, for want of room on the disk say, stays
// where it is, is read as before, and must keep nobody from opening the archive.
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { TransportError } from '@spanline/graph';
import { timers } from 'spanline/internal/base';
import { damagedWalName, isGone, newId, type OwnedName, walName } from './directory.js';
import { writeSpansTo } from './make-segments.js';
import { isInUse, use } from './owner.js';
import type { SegmentSet } from './segment-set.js';
import { damageOf, readWalRows } from './wal/wal-reader.js';
import type { WorkThread } from './work-thread.js';

/** Counts of what recovery found. */
export interface RecoveryCounts {
  recoveredFiles: number;
  recoveredSpans: number;
  tornBytes: number;
  /** Files that could not be taken over, and why the last one could not. */
  failures: number;
  lastFailure: string;
}

/** What became of one file. */
interface Taken {
  readonly spans: number;
  readonly tornBytes: number;
  readonly damage?: string;
}

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
  const segmentId = newId();
  const answer = await worker.run({ kind: 'seal', directory, path, replaces: id, segmentId, spans: undefined });
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
    try {
      if (timers.wallMs() - statSync(path).mtimeMs > LEFTOVER_MS) rmSync(path, { force: true });
    } catch {
      // Its writer finished or removed it meanwhile.
    }
  }
};
