// FrameStore: an AsyncLocalStorage whose `run` costs a tenth where Node keeps the async context in frames (Node 24 and later). Node's own
// builds a Map to go in and another to come back; this one exchanges a frame of two fields. Whatever programs see of any store, this one
// and theirs, must be what they see with AsyncLocalStorage alone; where that is not certain, it is used alone.
//
// ContextFrame: what is current then, with one store's value above the frame around it. It answers what Node asks of a Map. The current frame is read and
// set by V8's own functions, which optimised code has inline.
//
// Native code that reads the current frame as the Map that Node makes of it finds nothing in ours: a profiler that labels its samples in a signal handler.
// Found by the modules that are loaded; nothing is loaded here.
//
// At the end it is found out by trying whether frames of our own do in this Node all that its own frames do. A fault is a reason to use AsyncLocalStorage alone,
// never an error, and the context of the caller is left as it was.

import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { warn } from '../base/calls/attempt.js';
import { timers } from '../base/calls/timers.js';
import { loadFastCall } from '../clock/binding.js';

const native = loadFastCall().module;

/** Whether this Node gives access to its frames at all. */
export const hasAccess = native?.currentFrame !== undefined && native.setFrame !== undefined;

const none = (): undefined => undefined;

/** What is current; undefined outside any context. */
export const currentFrame: () => unknown = native?.currentFrame ?? none;

/** Make `frame`, which Node will ask as it asks a Map, the current one. */
export const setFrame: (frame: unknown) => void = native?.setFrame ?? none;

/** A store, as a key. */
type Key = AsyncLocalStorage<unknown>;

/** What a frame of Node is: a Map. */
export type NodeFrame = ReadonlyMap<Key, unknown>;

// Of any version of this library; those of Node are not instances of Map.
const MARK = Symbol.for('spanline.context-frame');

export class ContextFrame<T> {
  private hasOwn = true;
  /** Somebody has changed it in place; what is around has to follow. */
  isChanged = false;

  constructor(
    readonly store: AsyncLocalStorage<T>,
    private value: T,
    /** The frame around it; never one of the same store, or frames would chain for ever. */
    private around: NodeFrame | undefined,
  ) {}

  /** What is around a frame of `store` that is entered where `outer` is current. */
  static around(outer: unknown, store: Key): NodeFrame | undefined {
    if (outer === undefined) return undefined;
    if (outer instanceof ContextFrame && outer.store === store) return outer.around as NodeFrame | undefined;
    // A frame of another store, perhaps of another version of this library: what it holds, not the frame.
    const isNodes = (outer as { [MARK]?: true })[MARK] === undefined;
    return isNodes ? (outer as NodeFrame) : new Map(outer as Iterable<[Key, unknown]>);
  }

  /** True when `frame` has a value for `store`, and all others as `outer` has them. What was changed in place has another frame around it. */
  static differInValue(frame: unknown, outer: unknown, store: Key): boolean {
    if (!(frame instanceof ContextFrame) || frame.store !== store) return false;
    return frame.around === ContextFrame.around(outer, store);
  }

  get [MARK](): true {
    return true;
  }

  /** True when it gives `store` this value. */
  holds(store: Key, value: unknown): boolean {
    return this.hasOwn && this.store === store && Object.is(this.value, value);
  }

  has(key: unknown): boolean {
    return (this.hasOwn && key === this.store) || this.around?.has(key as Key) === true;
  }

  get(key: unknown): unknown {
    return this.hasOwn && key === this.store ? this.value : this.around?.get(key as Key);
  }

  set(key: unknown, value: unknown): this {
    const entries = this.change();
    if (key === this.store) {
      this.hasOwn = true;
      this.value = value as T;
    } else entries.set(key as Key, value);
    return this;
  }

  delete(key: unknown): boolean {
    const had = this.has(key);
    this.change().delete(key as Key);
    if (key === this.store) this.hasOwn = false;
    return had;
  }

  /** `AsyncLocalStorage.disable` calls this. */
  disable(key: unknown): void {
    this.delete(key);
  }

  /** What a Map that Node makes of it has: values of stores, never a frame. */
  *[Symbol.iterator](): Generator<[Key, unknown]> {
    if (this.around !== undefined) yield* this.around as Iterable<[Key, unknown]>;
    if (this.hasOwn) yield [this.store as Key, this.value];
  }

  // The frame around belongs to others too.
  private change(): Map<Key, unknown> {
    this.isChanged = true;
    const entries = new Map(this.around);
    this.around = entries;
    return entries;
  }
}

/** Packages known to do so, as part of a path. */
const READERS: readonly string[] = ['@datadog/pprof'];

/** The package loaded in this thread that reads frames; undefined where none does. */
export const frameReader = (): string | undefined => {
  // Thousands of paths, once a second: looked through without a text made of each.
  const paths = Object.keys(createRequire(process.execPath).cache);
  return READERS.find((name) => {
    const last = name.slice(name.indexOf('/') + 1);
    return paths.some((path) => path.includes(last) && path.replaceAll('\\', '/').includes(`/node_modules/${name}/`));
  });
};

/** How contexts are entered, and why not by frames. */
export interface ContextInfo {
  readonly way: 'frames' | 'als';
  readonly reason?: string;
}

// One decision for all stores of a thread.
let usesFrames = false;
let isDecided = false;
let reason: string | undefined;

/** Node's own calls with null for `this`; a plain call has undefined. */
const plainly = <R, A extends unknown[]>(fn: (...args: A) => R, args: A): R => Reflect.apply(fn, undefined, args);

const call = <R>(fn: () => R): R => fn();

const NOBODYS: unknown = {};

export class FrameStore<T> extends AsyncLocalStorage<T> {
  /** The way in use. */
  get info(): ContextInfo {
    if (!isDecided) decide();
    return usesFrames ? { way: 'frames' } : { way: 'als', reason };
  }

  override run<R, A extends unknown[]>(value: T, fn: (...args: A) => R, ...args: A): R {
    if (!isDecided) decide();
    if (usesFrames) return this.runByFrame(value, fn, args);
    // Nearly always: one list of arguments less, and a call that is compiled as one.
    return args.length === 0 ? super.run(value, call<R>, fn as () => R) : super.run(value, plainly<R, A>, fn, args);
  }

  /** Make `value` current for the code that runs now and what it starts: as `enterWith`, for a fraction of its price. */
  enter(value: T): void {
    if (!isDecided) decide();
    if (!usesFrames) this.enterWith(value);
    else setFrame(new ContextFrame(this, value, ContextFrame.around(currentFrame(), this)));
  }

  /**
   * Have contexts followed from now on. Node that keeps no frames follows promises from the first use of a store only: what is entered there, behind an
   * `await`, would stay current in what called.
   */
  follow(): void {
    // Of this kind of store, whichever way it goes: that is found at the first span. Nothing is done for a value that is current already.
    super.run(NOBODYS as T, none);
  }

  /** The frame that is current, for {@link enterAgain}. */
  get frame(): unknown {
    return usesFrames ? currentFrame() : undefined;
  }

  /** As {@link enter} of `value`, which was current in the frame `outer`: that one is taken where nothing but this store has changed since. */
  enterAgain(outer: unknown, value: T): void {
    if (usesFrames && ContextFrame.differInValue(currentFrame(), outer, this)) setFrame(outer);
    else this.enter(value);
  }

  /** Go the plain way when somebody reads frames in native code, where ours look empty. To be called at every report. */
  heedReaders(): void {
    if (!usesFrames || timers.monotonicMs() < nextLook) return;
    heedReaders();
  }

  /** @internal */
  protected runByFrame<R, A extends unknown[]>(value: T, fn: (...args: A) => R, args: A): R {
    const outer = currentFrame();
    // Node's own does nothing then, and what is entered inside stays.
    if (isValueIn(outer, this, value)) return Reflect.apply(fn, undefined, args);
    const frame = new ContextFrame(this, value, ContextFrame.around(outer, this));
    setFrame(frame);
    try {
      // Nearly always, and then V8 puts the call in place.
      return args.length === 0 ? (fn as () => R)() : Reflect.apply(fn, undefined, args);
    } finally {
      const left = currentFrame();
      if (left === frame && !frame.isChanged) setFrame(outer);
      else this.leave(outer, left);
    }
  }

  // Somebody has entered or disabled a store inside, which outlives this run as it does with AsyncLocalStorage.
  private leave(outer: unknown, left: unknown): void {
    setFrame(outer);
    const prior = this.getStore();
    setFrame(left);
    this.enterWith(prior as T);
  }
}

const isValueIn = (frame: unknown, store: AsyncLocalStorage<unknown>, value: unknown): boolean => {
  if (frame instanceof ContextFrame) return frame.holds(store, value);
  return Object.is(frame === undefined ? undefined : (frame as ReadonlyMap<unknown, unknown>).get(store), value);
};

/** For the self-test: goes by frames whatever was found so far. */
class TestedStore extends FrameStore<unknown> {
  override run<R, A extends unknown[]>(value: unknown, fn: (...args: A) => R, ...args: A): R {
    return this.runByFrame(value, fn, args);
  }
}

const useAls = (why: string): void => {
  usesFrames = false;
  reason = why;
};

// A program has thousands of modules, and may report after every request.
const LOOK_EVERY_MS = 1000;
let nextLook = 0;

const heedReaders = (): void => {
  nextLook = timers.monotonicMs() + LOOK_EVERY_MS;
  const reader = usesFrames ? frameReader() : undefined;
  if (reader === undefined) return;
  useAls(`${reader} reads frames in native code`);
  const message = `${reader} reads Node's context frames, so spans go by AsyncLocalStorage alone, which costs more.`;
  warn(message, 'SPANLINE_CONTEXT_READER');
};

const faultNow = (): string | undefined => {
  if (process.env.SPANLINE_CONTEXT === 'als') return 'SPANLINE_CONTEXT=als';
  return hasAccess ? faultOfFrames(new TestedStore()) : 'this Node or build gives no access to frames';
};

const decide = (): void => {
  isDecided = true;
  reason = faultNow();
  usesFrames = reason === undefined;
  heedReaders();
  if (usesFrames) void decideLater();
};

const decideLater = async (): Promise<void> => {
  const fault = await faultOfLaterFrames(new TestedStore());
  if (fault !== undefined) useAls(fault);
};

const seen = (...stores: readonly Key[]): string => stores.map((store) => String(store.getStore())).join(' ');

/** What `ours` and a store of Node see, by turns, and what must be seen. */
const observe = (ours: Key, other: Key): readonly (readonly [string, string, string])[] => {
  const found: [string, string, string][] = [];
  const expectSeen = (where: string, wanted: string): void => {
    found.push([where, seen(ours, other), wanted]);
  };
  expectSeen('outside', 'undefined undefined');
  let bound: (() => void) | undefined;
  let snapshot: (<R>(fn: () => R) => R) | undefined;
  ours.run('a', () => {
    found.push(['frame', String(currentFrame() instanceof ContextFrame), 'true']);
    expectSeen('run', 'a undefined');
    bound = AsyncResource.bind(() => expectSeen('bind', 'a undefined'));
    other.run(1, () => {
      expectSeen('foreign run', 'a 1');
      snapshot = AsyncLocalStorage.snapshot();
      ours.run('b', () => {
        expectSeen('nested run', 'b 1');
        other.exit(() => expectSeen('exit', 'b undefined'));
        expectSeen('after exit', 'b 1');
      });
      expectSeen('after nested run', 'a 1');
      ours.exit(() => expectSeen('own exit', 'undefined 1'));
    });
    expectSeen('after foreign run', 'a undefined');
    ours.run('c', () => other.enterWith(2));
    expectSeen('after enterWith', 'a 2');
    ours.run('d', () => {
      other.disable();
      expectSeen('disable', 'd undefined');
    });
    expectSeen('after disable', 'a undefined');
  });
  expectSeen('after run', 'undefined undefined');
  bound?.();
  snapshot?.(() => expectSeen('snapshot', 'a 1'));
  expectSeen('at the end', 'undefined undefined');
  return found;
};

/** Why frames must not be used here, as far as is seen at once; undefined when they may. */
export const faultOfFrames = (ours: Key): string | undefined => {
  const outer = currentFrame();
  const other: Key = new AsyncLocalStorage();
  try {
    setFrame(undefined);
    // Node 22 has them behind a flag, and later ones leave them out behind another.
    if (other.run(0, () => currentFrame()) === undefined) return 'this Node keeps no frames';
    setFrame(undefined);
    const wrong = observe(ours, other).find(([, is, wanted]) => is !== wanted);
    return wrong === undefined ? undefined : `self-test of frames, ${wrong[0]}: ${wrong[1]} instead of ${wrong[2]}`;
  } catch (error) {
    return `self-test of frames: ${String(error)}`;
  } finally {
    for (const store of [ours, other]) store.disable();
    setFrame(outer);
  }
};

/** The same, for what comes later. Keeps no process alive. */
export const faultOfLaterFrames = async (ours: Key): Promise<string | undefined> => {
  const wrong: string[] = [];
  const look = (where: string): void => {
    if (ours.getStore() !== 'later') wrong.push(where);
  };
  try {
    await ours.run('later', async () => {
      timers.setImmediate(look, 'an immediate').unref();
      await undefined;
      look('an await');
    });
    await new Promise((resolve) => timers.setImmediate(resolve).unref());
  } catch (error) {
    return `self-test of frames: ${String(error)}`;
  }
  return wrong.length === 0 ? undefined : `self-test of frames: lost over ${wrong.join(' and ')}`;
};
