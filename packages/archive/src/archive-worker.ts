// The worker thread of an archive: makes segments of write-ahead files and merges segments, as it is asked. It must own no file and hold no
// lock, and may be ended at any moment.
import { parentPort } from 'node:worker_threads';
import { GraphError } from '@spanline/graph';
import { attempt } from 'spanline/internal/base';
import { mergeFiles, writeSpansTo } from './make-segments.js';
import { damageOf, readWalRows } from './wal/wal-frames.js';
import type { SealAnswer, SealTask, WorkAnswer, WorkReply, WorkRequest } from './work-thread.js';

const seal = ({ directory, path, replaces }: SealTask): SealAnswer => {
  // Of one that cannot be read whoever asked knows what was in it, or finds out why it is gone.
  const read = attempt(() => readWalRows(path));
  if (read === undefined) return { isDone: false, spans: 0, tornBytes: 0 };
  const { rows, tornBytes } = read;
  if (rows.count > 0) writeSpansTo(directory, rows, [replaces]);
  return { isDone: true, spans: rows.count, tornBytes, damage: damageOf(path, read)?.message };
};

const answerTo = async ({ number, task }: WorkRequest): Promise<WorkReply> => {
  try {
    const answer: WorkAnswer = task.kind === 'seal' ? seal(task) : await mergeFiles(task);
    return { number, answer };
  } catch (error) {
    const isTransport = error instanceof GraphError && error.code === 'ERR_SPANLINE_GRAPH_TRANSPORT';
    return { number, failure: { isTransport, message: error instanceof Error ? error.message : String(error) } };
  }
};

parentPort?.on('message', async (request: WorkRequest) => {
  parentPort?.postMessage(await answerTo(request));
});
