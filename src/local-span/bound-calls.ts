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
import type { TaskQueue } from '../context/process-state.js';

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
export const forgetCalls = (): void => {
  if (calls.length === 0) return;
  calls.length = 0;
  hook.disable();
};
