// Takes over what writers that died have left: their write-ahead files become segments. Several processes may try at once, and any may be
// killed at any moment: nothing is lost and nothing is seen twice.
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { newId, type OwnedName, walName } from './file-names.js';
import { isInUse, use } from './owner.js';
import type { SegmentSet } from './segment-set.js';
import { isGone } from './vanished.js';
import { readWal } from './wal/wal-reader.js';
import type { WorkThread } from './work-thread.js';
import { writeSpansTo } from './write-spans.js';

/** What recovery found. */
export interface Recovered {
  readonly files: number;
  readonly spans: number;
  readonly tornBytes: number;
}

/** Age after which leftovers of crashed writers under temporary names are deleted. */
const LEFTOVER_MS = 60 * 60 * 1000;
/** Bytes of a span in a write-ahead file, about: to guess how many there are. */
const SPAN_BYTES = 100;

/** Make segments of the write-ahead files whose writers are gone. */
export const recover = async (set: SegmentSet, worker: WorkThread): Promise<Recovered> => {
  const { wals, replaced } = await set.list();
  // A crash left them; living ones are about to delete theirs.
  for (const name of replaced) rmSync(join(set.directory, name), { force: true });
  let files = 0;
  let spans = 0;
  let tornBytes = 0;
  for (const wal of wals) {
    if (isInUse(wal.owner, join(set.directory, wal.name))) continue;
    const taken = await takeOver(set, wal, worker);
    if (taken === undefined) continue;
    files++;
    spans += taken.spans;
    tornBytes += taken.tornBytes;
  }
  removeLeftovers(set.directory);
  return { files, spans, tornBytes };
};

/** Make a segment of one file; undefined when another was quicker. */
const takeOver = async (
  set: SegmentSet,
  { name, id }: OwnedName,
  worker: WorkThread,
): Promise<Omit<Recovered, 'files'> | undefined> => {
  const [from, path] = [join(set.directory, name), join(set.directory, walName(id))];
  const release = use(path);
  try {
    // From here on it is the file of a living owner. Of several that try, one can rename it.
    const now = new Date();
    utimesSync(from, now, now);
    renameSync(from, path);
    const taken = (await sealInWorker(set, path, id, worker)) ?? (await sealHere(set, path, id));
    rmSync(path, { force: true });
    return taken;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  } finally {
    release();
  }
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
): Promise<Omit<Recovered, 'files'> | undefined> => {
  if (!(await isWanted(set, id)) || !worker.accepts(statSync(path).size / SPAN_BYTES)) return undefined;
  const { directory } = set;
  const segmentId = newId();
  const answer = await worker.run({ kind: 'seal', directory, path, replaces: id, segmentId, spans: undefined });
  return answer?.isDone ? answer : undefined;
};

const sealHere = async (set: SegmentSet, path: string, id: string): Promise<Omit<Recovered, 'files'>> => {
  const isNeeded = await isWanted(set, id);
  const { spans, tornBytes } = readWal(path);
  if (isNeeded && spans.length > 0) writeSpansTo(set.directory, spans, [id]);
  return { spans: isNeeded ? spans.length : 0, tornBytes };
};

const removeLeftovers = (directory: string): void => {
  for (const name of readdirSync(directory)) {
    if (!/^\.seg-.*\.tmp$/.test(name)) continue;
    const path = join(directory, name);
    try {
      if (Date.now() - statSync(path).mtimeMs > LEFTOVER_MS) rmSync(path, { force: true });
    } catch {
      // Its writer finished or removed it meanwhile.
    }
  }
};
