// The worker thread of an archive: makes segments of write-ahead files and merges segments, as it is asked. It must own no file and hold no
// lock, and may be ended at any moment.
import { parentPort } from 'node:worker_threads';
import { GraphError } from '@spanline/graph';
import { mergeSegments, writeSpansTo } from './make-segments.js';
import { DirectoryPlace } from './segment-place.js';
import { SegmentSet } from './segment-set.js';
import { damageOf, readWalRows, type WalRows } from './wal/wal-frames.js';
import type {
  MergeAnswer,
  MergeTask,
  SealAnswer,
  SealTask,
  WorkAnswer,
  WorkReply,
  WorkRequest,
} from './work-thread.js';

/** Segments open at a time, and bytes of their blocks kept: each is read once, from its beginning to its end. */
const OPEN_SEGMENTS = 2;
const CACHE_BYTES = 4 * 1024 * 1024;

const readIfThere = (path: string): WalRows | undefined => {
  try {
    return readWalRows(path);
  } catch {
    // Whoever asked knows what was in it, or finds out why it is gone.
    return undefined;
  }
};

const seal = ({ directory, path, replaces }: SealTask): SealAnswer => {
  const read = readIfThere(path);
  if (read === undefined) return { isDone: false, spans: 0, tornBytes: 0 };
  const { rows, tornBytes } = read;
  if (rows.count > 0) writeSpansTo(directory, rows, [replaces]);
  return { isDone: true, spans: rows.count, tornBytes, damage: damageOf(path, read)?.message };
};

const merge = async ({ directory, names }: MergeTask): Promise<MergeAnswer> => {
  const set = new SegmentSet(new DirectoryPlace(directory), OPEN_SEGMENTS, CACHE_BYTES);
  try {
    return { isDone: await mergeSegments(set, names), damaged: set.damaged() };
  } finally {
    await set.close();
  }
};

const answerTo = async ({ number, task }: WorkRequest): Promise<WorkReply> => {
  try {
    const answer: WorkAnswer = task.kind === 'seal' ? seal(task) : await merge(task);
    return { number, answer };
  } catch (error) {
    const isTransport = error instanceof GraphError && error.code === 'ERR_SPANLINE_GRAPH_TRANSPORT';
    return { number, failure: { isTransport, message: error instanceof Error ? error.message : String(error) } };
  }
};

parentPort?.on('message', async (request: WorkRequest) => {
  parentPort?.postMessage(await answerTo(request));
});
