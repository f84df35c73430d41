// The async context with its queues as the class that they are. Must hold no logic of contexts: `task-context.ts` has it, below the class.
//
// Entering a queue for a stretch of code and leaving it again, for scopes that are not a function call. Leaving must give
// back the context that was there before, also when two scopes overlap and are left in the wrong order.
import { now, nsPerTick } from '../clock/index.js';
import type { FrameStore } from '../context/frame-store.js';
import { type QueueSwitches, state } from '../context/process-state.js';
import type { SpanQueue } from './span-queue.js';
import { currentTaskQueue, enteredTaskQueue, recordingTaskQueue, stillEntered } from './task-context.js';

/** Shorter work is not reported to the event-loop timeline. */
const LONG_NS = 1e6;

export const queueStore = state.queueStore as FrameStore<SpanQueue>;

/** Run `fn` with `queue` as the current one. */
export const runOnQueue = <T>(queue: SpanQueue, fn: () => T): T => {
  const { labelling, carriesContexts, queueSwitches } = state;
  if (carriesContexts) queue.context ??= queueStore.getStore()?.context ?? null;
  if (queueSwitches !== undefined) return runWatched(queue, fn, queueSwitches);
  return labelling === undefined ? queueStore.run(queue, fn) : labelling.run(queue, fn);
};

const runWatched = <T>(queue: SpanQueue, fn: () => T, switches: QueueSwitches): T => {
  const { labelling } = state;
  const start = now();
  switches.counts[0]++;
  try {
    return labelling === undefined ? queueStore.run(queue, fn) : labelling.run(queue, fn);
  } finally {
    switches.left = queue;
    switches.counts[1]++;
    const ns = (now() - start) * nsPerTick();
    if (ns >= LONG_NS) switches.ran(queue, ns);
  }
};

/**
 * The queue of this task, or undefined outside any `span.run`. Hold it only until the next `await`: it saves the look-up of
 * the local parent where many local spans start in one stretch.
 *
 * @example
 * ```ts
 * const root = Span.root('sort');
 * root.run(() => {
 *   const queue = currentQueue();
 *   for (let i = 0; i < 100; i++) queue?.start('compare').end();
 * });
 * root.end();
 * ```
 */
export const currentQueue = currentTaskQueue as () => SpanQueue | undefined;

/** The queue whose span is the local parent of this task: for its identity, not for local spans. */
export const enteredQueue = enteredTaskQueue as () => SpanQueue | undefined;

/** The queue of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingQueue = recordingTaskQueue as () => SpanQueue | undefined;

/** Make `queue` the current one; gives the queue that was current, for {@link leaveQueue}. */
export const enterQueue = (queue: SpanQueue): SpanQueue | undefined => {
  const outer = queueStore.getStore();
  queue.isEntered = true;
  queue.context ??= outer?.context ?? null;
  queueStore.enter(queue);
  return outer;
};

/** Give the context back and close the queue. */
export const leaveQueue = (queue: SpanQueue, outer: SpanQueue | undefined): void => {
  const current = queueStore.getStore();
  if (current?.scope === queue) {
    queueStore.enter(stillEntered(outer) as SpanQueue);
    // A turn ended in the scope of a span that had ended, and what came then has a queue of its own.
    if (current !== queue) current.close();
  }
  // Another scope or task was entered since. Its end brings back this queue, which is over: what was around it counts.
  else queue.leftTo = outer;
  queue.close();
};
