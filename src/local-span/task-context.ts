// The async context: which queue is the local parent here. ONE store per process; it is entered once per task, never once per local span. It has queues by
// interface only: `local-span.ts`, above it, gives them their class.
//
// Below it scopes that are not a function call: leaving one must give back the context that was there before, also when two overlap and are left in the
// wrong order.
//
// And stretches of code that no scope will close: timers, listeners and promises that go on after the `run` they were made
// in. What such a stretch leaves open ends with the turn of the event loop it is part of. Must never grow without bound.
//
// At the end what is said of a local span that was held across stretches.
import {
  AsyncLocalStorage,
  AsyncResource,
  createHook,
  executionAsyncId,
  executionAsyncResource,
} from 'node:async_hooks';
import { warn } from '../base/calls/attempt.js';
import { now, nsPerTick } from '../clock/index.js';
import { type QueueSwitches, state, type TaskQueue } from '../context/process-state.js';
import { Counter, count } from '../rows/counters.js';

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
const stillEntered = (queue: TaskQueue | undefined): TaskQueue | undefined => {
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

// Calls of functions bound with AsyncResource. Many may come in one turn of the event loop, and without AsyncContextFrame
// (Node 20 and 22) what one call enters is current in the next: only an async hook shows where a call ends. The hook makes
// every await dearer, so it must never be on while no such call runs.

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
const closeAfterCall = (queue: TaskQueue): void => {
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

const MAX_SITES = 256;
const seen = new Set<string>();

// The first frame outside the folder of this file and outside Node: the user's call. A bundle has the library and its
// user in one file, so there the frame is found by its depth below the handle's `end`.
const BUNDLED_DEPTH = 5;

/** A line of a stack that names a place in a file; `async Promise.all (index 0)` does not. */
const PLACE = /:\d+:\d+\)?$/;

const callSite = (): string => {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const own = /\(?((?:file:\/\/)?[^()]*)[/\\][^/\\]+:\d+:\d+\)?$/.exec(frames[0] ?? '')?.[1].replace(/^.*at /, '');
  const outside =
    own === undefined
      ? undefined
      : frames.find((frame) => PLACE.test(frame) && !frame.includes(own) && !frame.includes('node:'));
  return (outside ?? frames[BUNDLED_DEPTH] ?? '').trim();
};

/**
 * A local span was closed while one started after it is open: usually one that is held across an await. Said in development mode, once per call site. Must
 * never throw.
 */
export const warnOutOfOrder = (): void => {
  if (!state.development || seen.size >= MAX_SITES) return;
  try {
    const site = callSite();
    if (seen.has(site)) return;
    seen.add(site);
    const what = `A local span was closed out of order ${site}. A local span belongs to one synchronous stretch`;
    warn(
      `${what}; for work that awaits use Span.startWithLocalParent or traced().`,
      'SPANLINE_LOCAL_SPAN_OUT_OF_ORDER',
    );
  } catch {
    // Programs replace Error.prepareStackTrace.
  }
};
