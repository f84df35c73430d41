// Code that runs under a span: until a function returns, until the promise that it gives settles, or until a guard is left, which must give back the async
// context it found, and may be left twice. At the end what takes the place of all this under a span that does not record.
//
// What is returned in place of a promise that is waited for must be as much like it as can be: of the same realm, with its own properties, rejected as unhandled
// as it was. Nothing else may be called on it or changed. The promise itself cannot be given back: a waiter for it has handled it, so that a rejection nobody
// else handles would no longer reach `unhandledRejection`, and whether somebody else does cannot be asked.
import { types } from 'node:util';
import { state, type TaskQueue } from '../context/process-state.js';
import { type QueueMount, queueStore, SpanQueue } from '../local-span/local-span.js';
import { enterQueue, leaveQueue, runOnQueue } from '../local-span/task-context.js';
import type { SpanContext } from './span-context.js';

// The language's own, whatever a program made of the global.
const PROTOTYPE = Object.getPrototypeOf((async () => {})()) as Promise<unknown>;
const { then } = PROTOTYPE;
const NATIVE_CONSTRUCTOR = Function.prototype.toString.call(PROTOTYPE.constructor);

const isConstructor = (value: unknown, prototype: object): boolean =>
  typeof value === 'function' &&
  Function.prototype.toString.call(value) === NATIVE_CONSTRUCTOR &&
  value.prototype === prototype;

// Every realm (a vm context, a test environment) has a Promise of its own.
const isForeignPrototype = (prototype: object | null): boolean => {
  if (prototype === null || types.isProxy(prototype)) return false;
  return isConstructor(Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value, prototype);
};

/**
 * A promise of this realm or another, of no subclass. Only such a one is waited for: `then` of another thenable may start
 * its work, and that of a subclass makes an object of the subclass. Runs no getter and no trap.
 */
export const isPlainPromise = (value: unknown): value is Promise<unknown> => {
  if (typeof value !== 'object' || value === null || !types.isPromise(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return (prototype === PROTOTYPE || isForeignPrototype(prototype)) && !Object.hasOwn(value, 'constructor');
};

/** What `promise.then(onValue, onError)` gives, with the own properties of a promise that is {@link isPlainPromise}. */
export const follow = <T>(
  promise: Promise<T>,
  onValue: (value: T) => T,
  onError: (error: unknown) => never,
): Promise<T> => withOwn(promise, followFresh(promise, onValue, onError));

/** The same for the promise of an `async` function, which nobody has had in hand: there is nothing to look at. */
export const followFresh = <T>(
  promise: Promise<T>,
  onValue: (value: T) => T,
  onError: (error: unknown) => never,
): Promise<T> => then.call(promise, onValue as (value: unknown) => T, onError) as Promise<T>;

// Until Node 22 every promise has keys of async_hooks, each its own. Nobody has had `to` in hand: what it has is theirs.
const hookKeys: PropertyKey[] = [];

const withOwn = <T extends object>(from: object, to: T): T => {
  for (const key of Reflect.ownKeys(from)) {
    if (hookKeys.includes(key)) continue;
    if (Object.hasOwn(to, key)) hookKeys.push(key);
    else Object.defineProperty(to, key, Object.getOwnPropertyDescriptor(from, key) as PropertyDescriptor);
  }
  if (Object.isExtensible(from)) return to;
  if (Object.isFrozen(from)) return Object.freeze(to);
  return Object.isSealed(from) ? Object.seal(to) : Object.preventExtensions(to);
};

type Follow = typeof follow;

/** How to wait for what `maker` gave; undefined when it is not to be waited for. */
export const followerOf = (result: unknown, maker: unknown): Follow | undefined => {
  if (typeof result !== 'object' || result === null) return undefined;
  if (types.isAsyncFunction(maker)) return followFresh;
  return isPlainPromise(result) ? follow : undefined;
};

/**
 * The queues of one span whose tasks still run: `span.run` of an async function, closed when its promise settles, and scopes of `span.enter`. When the span ends
 * first, what they hold already is handed over.
 */
export class TaskQueues {
  /** A list in no order. */
  first: SpanQueue | null = null;

  /** Keep `queue` among those that run. */
  add(queue: SpanQueue): void {
    queue.nextOpen = this.first;
    if (this.first !== null) this.first.previousOpen = queue;
    this.first = queue;
  }

  /**
   * Close `queue` when `result` settles. The caller returns the promise given back in its place. A method of its own, for what closures keep is made at each
   * call of the function that they are in, also where nothing is waited for.
   */
  closeWhenSettled<T>(queue: SpanQueue, result: Promise<T>, follow: Follow): Promise<T> {
    this.add(queue);
    return follow(
      result,
      (value) => {
        this.close(queue);
        return value;
      },
      (error) => {
        this.close(queue);
        throw error;
      },
    );
  }

  /** The span ends while tasks run. */
  settle(): void {
    for (let queue = this.first; queue !== null; queue = queue.nextOpen) queue.settle();
  }

  /** `queue` runs no longer. */
  remove(queue: SpanQueue): void {
    const { previousOpen, nextOpen } = queue;
    if (previousOpen === null) this.first = nextOpen;
    else previousOpen.nextOpen = nextOpen;
    if (nextOpen !== null) nextOpen.previousOpen = previousOpen;
  }

  private close(queue: SpanQueue): void {
    this.remove(queue);
    queue.close();
  }
}

/** A span, as far as code runs under it. */
interface RunningSpan extends QueueMount {
  readonly isRoot: boolean;
  idHi: number;
  idLo: number;
  readonly endTicks: number;
  tasks: TaskQueues | null;
  recordFailure(error: unknown): unknown;
  end(): void;
}

/** Run `fn` with `span` as the local parent. */
export const runUnder = <T>(span: RunningSpan, fn: () => T): T => {
  const queue = new SpanQueue(span, true);
  let result: T;
  try {
    result = runOnQueue(queue, fn);
  } catch (error) {
    queue.close();
    throw error;
  }
  const follow = followerOf(result, fn);
  if (follow === undefined) {
    queue.close();
    return result;
  }
  span.tasks ??= new TaskQueues();
  return span.tasks.closeWhenSettled(queue, result as Promise<unknown>, follow) as T;
};

/** The same for code of our own that ends what it starts: what `fn` gives is handed on as it is, whatever that is, and nobody waits for it. */
export const beginUnder = <T>(span: RunningSpan, fn: () => T): T => {
  const queue = new SpanQueue(span, true);
  try {
    return runOnQueue(queue, fn);
  } finally {
    queue.close();
  }
};

/** Run `fn` like {@link runUnder} and end the span when it is done. `fn` only calls `maker`. */
export const runToEndUnder = <T>(span: RunningSpan, fn: () => T, maker: unknown): T => {
  const queue = new SpanQueue(span, true);
  let result: T;
  try {
    result = runOnQueue(queue, fn);
  } catch (error) {
    fail(span, queue, error);
    throw error;
  }
  const follow = followerOf(result, maker);
  if (follow === undefined) {
    finish(span, queue);
    return result;
  }
  return follow(
    result as Promise<unknown>,
    (value) => {
      finish(span, queue);
      return value;
    },
    (error) => {
      fail(span, queue, error);
      throw error;
    },
  ) as T;
};

const finish = (span: RunningSpan, queue: SpanQueue): void => {
  queue.close();
  if (span.endTicks === 0) span.end();
};

const fail = (span: RunningSpan, queue: SpanQueue, error: unknown): void => {
  if (span.endTicks === 0) span.recordFailure(error);
  finish(span, queue);
};

/** Keeps a span the local parent until disposed: `using guard = span.enter()`. */
export class SpanGuard implements Disposable {
  private readonly outer: TaskQueue | undefined;
  private readonly endLabel: (() => void) | undefined;

  /** @internal */
  constructor(
    private queue: SpanQueue | null,
    private readonly tasks: TaskQueues | null = null,
  ) {
    if (queue === null) return;
    tasks?.add(queue);
    this.outer = enterQueue(queue);
    this.endLabel = state.labelling?.enter(queue);
  }

  [Symbol.dispose](): void {
    const queue = this.queue;
    if (queue === null) return;
    this.queue = null;
    this.endLabel?.();
    this.tasks?.remove(queue);
    leaveQueue(queue, this.outer);
  }
}

/**
 * The unsampled form of a span: it records nothing and passes on that its trace is not sampled. Most unsampled roots call nobody, so a place of its own is
 * made for whoever asks.
 */
export class Unsampled {
  // One for all runs: nothing is in it.
  private queue: SpanQueue | null = null;

  /** @param context What is passed on; of a root that of the caller, until somebody asks. */
  constructor(private context: SpanContext) {}

  /** What `span` passes on. A root has an id of its own from then on. */
  contextOf(span: RunningSpan): SpanContext {
    if (span.isRoot && span.idLo === 0) {
      this.context = this.context.unsampledChild();
      span.idHi = this.context.idHi;
      span.idLo = this.context.idLo;
    }
    return this.context;
  }

  /** Run `fn` with `span` current. */
  run<T>(span: RunningSpan, fn: () => T): T {
    if (state.carriesContexts) return runOnQueue(new SpanQueue(span, false), fn);
    this.queue ??= new SpanQueue(span, false);
    return queueStore.run(this.queue, fn);
  }
}
