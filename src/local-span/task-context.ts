// The async context: which queue is the local parent here. ONE store per process; it is entered once per task, never once per local span. It has queues by
// interface only: `local-span.ts`, above it, gives them their class.
//
// Below it scopes that are not a function call: leaving one must give back the context that was there before, also when two overlap and are left in the
// wrong order.
import { now, nsPerTick } from '../clock/index.js';
import { type QueueSwitches, state, type TaskQueue } from '../context/process-state.js';
import { Counter, count } from '../rows/counters.js';
import { closeAfterCall } from './stretches.js';

/** Shorter work is not reported to the event-loop timeline. */
const LONG_NS = 1e6;

const { queueStore } = state;

/** The queue of this task, or undefined outside any `span.run`. */
export const currentTaskQueue = (): TaskQueue | undefined => {
  const queue = queueStore.getStore();
  return queue === undefined || queue.isLive ? queue : queueHere(queue);
};

/** The queue whose span is the local parent of this task: for its identity, not for local spans. */
export const enteredTaskQueue = (): TaskQueue | undefined => {
  const queue = queueStore.getStore();
  return queue === undefined || queue.isLive ? queue : stillEntered(queue);
};

/** `queue`, or what was current around it when its scope was left while another was innermost. */
export const stillEntered = (queue: TaskQueue | undefined): TaskQueue | undefined => {
  let at = queue;
  while (at !== undefined && at.scope.leftTo !== null) at = at.scope.leftTo;
  return at;
};

// The scope of `queue` is over, or it does not record. A stretch that goes on after its scope gets a queue of its own: one
// queue for all of them would hang what comes later on whatever one left open.
const queueHere = (queue: TaskQueue): TaskQueue | undefined => {
  const entered = stillEntered(queue);
  if (entered === undefined || !entered.sampled || entered.isLive) return entered;
  const stretch = entered.stretch();
  queueStore.enter(stretch);
  closeAfterCall(stretch);
  return stretch;
};

/** The queue of this task when it records; undefined when switched off. Counts the call when there is no parent. */
export const recordingTaskQueue = (): TaskQueue | undefined => {
  if (!state.enabled) return undefined;
  const queue = queueStore.getStore();
  if (queue === undefined) {
    count(Counter.localSpansWithoutParent);
    return undefined;
  }
  if (queue.isLive) return queue;
  return queue.sampled || queue.leftTo !== null ? recordingAfter(queue) : undefined;
};

const recordingAfter = (queue: TaskQueue): TaskQueue | undefined => {
  const here = queueHere(queue);
  if (here === undefined) count(Counter.localSpansWithoutParent);
  return here?.sampled ? here : undefined;
};

/** Run `fn` with `queue` as the current one. */
export const runOnQueue = <T>(queue: TaskQueue, fn: () => T): T => {
  const { labelling, carriesContexts, queueSwitches } = state;
  if (carriesContexts) queue.context ??= queueStore.getStore()?.context ?? null;
  if (queueSwitches !== undefined) return runWatched(queue, fn, queueSwitches);
  return labelling === undefined ? queueStore.run(queue, fn) : labelling.run(queue, fn);
};

const runWatched = <T>(queue: TaskQueue, fn: () => T, switches: QueueSwitches): T => {
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

/** Make `queue` the current one; gives the queue that was current, for {@link leaveQueue}. */
export const enterQueue = (queue: TaskQueue): TaskQueue | undefined => {
  const outer = queueStore.getStore();
  queue.isEntered = true;
  queue.context ??= outer?.context ?? null;
  queueStore.enter(queue);
  return outer;
};

/** Give the context back and close the queue. */
export const leaveQueue = (queue: TaskQueue, outer: TaskQueue | undefined): void => {
  const current = queueStore.getStore();
  if (current?.scope === queue) {
    queueStore.enter(stillEntered(outer) as TaskQueue);
    // A turn ended in the scope of a span that had ended, and what came then has a queue of its own.
    if (current !== queue) current.close();
  }
  // Another scope or task was entered since. Its end brings back this queue, which is over: what was around it counts.
  else queue.leftTo = outer;
  queue.close();
};
