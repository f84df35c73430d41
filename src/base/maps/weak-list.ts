// WeakList: objects in the order in which they came, none of which the list keeps alive. It must never grow with those that are gone.

const MIN_SWEPT = 64;

export class WeakList<T extends object> {
  #refs: WeakRef<T>[] = [];
  #sweepAt = MIN_SWEPT;

  add(item: T): void {
    if (this.#refs.length >= this.#sweepAt) {
      this.#refs = this.#refs.filter((ref) => ref.deref() !== undefined);
      // Twice what is left: each is looked at a few times at most.
      this.#sweepAt = Math.max(MIN_SWEPT, 2 * this.#refs.length);
    }
    this.#refs.push(new WeakRef(item));
  }

  /** The first `count` of those that are not gone, all unless it is given. */
  first(count = Number.POSITIVE_INFINITY): T[] {
    const found: T[] = [];
    for (const ref of this.#refs) {
      if (found.length >= count) break;
      const item = ref.deref();
      if (item !== undefined) found.push(item);
    }
    return found;
  }
}
