// The async context: which queue is the local parent here. ONE store per process; it is entered once per task, never once per local span.
// It has queues by interface only: `queue-store.ts` gives them their class.

import { state, type TaskQueue } from '../context/process-state.js';
import { Counter, count } from '../rows/counters.js';
import { closeAfterCall } from './stretches.js';

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
