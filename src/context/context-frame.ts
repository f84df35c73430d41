// ContextFrame: what Node 24 and later keep as the current async context, with one store's value above the frame around it. Node makes a
// Map for that, a copy of all that is in the one around; this is two fields. It answers what Node asks of such a Map.
//
// The current frame of the async context, read and set by V8's own functions, which optimised code has inline. Only Node with frames has
// a use for them; whether this one has frames is found by the self-test, not here.

import type { AsyncLocalStorage } from 'node:async_hooks';
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
