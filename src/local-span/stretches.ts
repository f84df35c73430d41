// Stretches of code that no scope will close: timers, listeners and promises that go on after the `run` they were made
// in. What such a stretch leaves open ends with the turn of the event loop it is part of. Must never grow without bound.
//
// Calls of functions bound with AsyncResource. Many may come in one turn of the event loop, and without AsyncContextFrame
// (Node 20 and 22) what one call enters is current in the next: only an async hook shows where a call ends. The hook makes
// every await dearer, so it must never be on while no such call runs.
import {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  executionAsyncResource,
} from 'node:async_hooks';
import { state, type TaskQueue } from '../context/process-state.js';

/** A call that runs: its resource, the queue to close behind it, and how often it has called itself. */
interface Call {
  readonly id: number;
  readonly queue: TaskQueue;
  depth: number;
}

const calls: Call[] = [];

const hook = createHook({
  before(id) {
    for (const call of calls) if (call.id === id) call.depth++;
  },
  after(id) {
    for (let i = calls.length - 1; i >= 0; i--) {
      const call = calls[i];
      if (call.id !== id || call.depth-- > 0) continue;
      calls.splice(i, 1);
      call.queue.close();
    }
    if (calls.length === 0) hook.disable();
  },
});

// Asked at the first call only: the library is often loaded and not used so.
const staysEntered = (): boolean => {
  const store = new AsyncLocalStorage<boolean>();
  const resource = new AsyncResource('spanline');
  resource.runInAsyncScope(() => store.enterWith(true));
  const stays = resource.runInAsyncScope(() => store.getStore()) === true;
  store.disable();
  return stays;
};
let isNeeded: boolean | undefined;

/** Close `queue` behind the bound call that runs now; nothing when none does, or when Node gives the context back itself. */
export const closeAfterCall = (queue: TaskQueue): void => {
  if (isNeeded === false || !(executionAsyncResource() instanceof AsyncResource)) return;
  isNeeded ??= staysEntered();
  if (!isNeeded) return;
  if (calls.length === 0) hook.enable();
  calls.push({ id: executionAsyncId(), queue, depth: 0 });
};

/** The turn is over, so no call runs; an uncaught exception ends calls without a word to hooks. */
const forgetCalls = (): void => {
  if (calls.length === 0) return;
  calls.length = 0;
  hook.disable();
};

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
