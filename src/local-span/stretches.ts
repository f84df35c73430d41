// Stretches of code that no scope will close: timers, listeners and promises that go on after the `run` they were made
// in. What such a stretch leaves open ends with the turn of the event loop it is part of. Must never grow without bound.

import { state, type TaskQueue } from '../context/process-state.js';
import { forgetCalls } from './bound-calls.js';

/** Queues with something to end that wait for the end of the turn; beyond it the oldest end at once. */
export const MAX_UNFINISHED = 1024;

/** Close `queue` when the code that runs now has returned to the event loop. */
export const closeAfterTurn = (queue: TaskQueue): void => {
  const { unfinished } = state;
  // A promise, because queueMicrotask makes an async resource of its own each time.
  if (unfinished.length === 0) void Promise.resolve().then(endTurn);
  else if (unfinished.length >= MAX_UNFINISHED) makeRoom(unfinished);
  unfinished.push(queue);
};

/** True while code may run that has a local span open, or has just left one open. */
export const isTurnUnfinished = (): boolean => state.unfinished.some((queue) => queue.hasOpen);

const endTurn = (): void => {
  forgetCalls();
  closeUnfinished();
};

/** Close every queue that waits. To be called early only where nothing else will run, as at the end of the process. */
export const closeUnfinished = (): void => {
  for (const queue of state.unfinished.splice(0)) queue.close();
};

// Many calls of bound functions in one turn. Those that have left nothing open go first: an outer one may still run.
const makeRoom = (unfinished: TaskQueue[]): void => {
  const open: TaskQueue[] = [];
  // Taken out first: closing hands over, and what takes it may come back here.
  for (const queue of unfinished.splice(0)) {
    if (queue.hasOpen) open.push(queue);
    else queue.close();
  }
  for (const queue of open.splice(0, Math.max(0, open.length - MAX_UNFINISHED / 2))) queue.close();
  unfinished.unshift(...open);
};
