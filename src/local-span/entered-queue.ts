// Entering a queue for a stretch of code and leaving it again, for scopes that are no function call. Leaving must give
// back the context that was there before, also when two scopes overlap and are left in the wrong order.
import { queueStore } from './queue-store.js';
import type { SpanQueue } from './span-queue.js';
import { stillEntered } from './task-context.js';

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
