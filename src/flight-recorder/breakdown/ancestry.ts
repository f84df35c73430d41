// Which span is below which, answered at once: every span gets the stretch of numbers that a walk through its tree gives to it and to all below it.
// Must not recurse, for a chain of spans may be as long as a snapshot, and must end where damaged ids make a circle.
import { keyOf, type SpanKey, type TimedSpan } from './timed-span.js';

const NONE = -1;

/** Over spans by their place in a list. */
export class Ancestry {
  readonly #places = new Map<string, number>();
  /** The number at which a walk came to the span, and the number after the last one below it. */
  readonly #enters: Int32Array;
  readonly #exits: Int32Array;

  constructor(spans: readonly TimedSpan[]) {
    const count = spans.length;
    // Of a span that is there twice the first stands for its id.
    for (let i = count - 1; i >= 0; i--) this.#places.set(keyOf(spans[i]), i);
    this.#enters = new Int32Array(count).fill(NONE);
    this.#exits = new Int32Array(count);
    const parents = Int32Array.from(spans, (span) => this.#parentOf(span));
    const firstChild = new Int32Array(count).fill(NONE);
    const nextSibling = new Int32Array(count);
    for (let i = count - 1; i >= 0; i--) {
      const parent = parents[i];
      if (parent === NONE) continue;
      nextSibling[i] = firstChild[parent];
      firstChild[parent] = i;
    }
    // firstChild[parent] === NONE ends a list; a root has no list, so that its nextSibling is never read.
    let number = 0;
    for (let i = 0; i < count; i++) if (parents[i] === NONE) number = this.#walk(i, number, firstChild, nextSibling);
    // What is left hangs on a circle: it is opened where it is met first.
    for (let i = 0; i < count; i++)
      if (this.#enters[i] === NONE) number = this.#walk(i, number, firstChild, nextSibling);
  }

  /** The place of a span; -1 when it is not there. */
  placeOf(span: SpanKey): number {
    return this.#places.get(keyOf(span)) ?? NONE;
  }

  /** Whether the span at `place` is the one at `top`, or below it. */
  isWithin(place: number, top: number): boolean {
    const number = this.#enters[place];
    return number >= this.#enters[top] && number < this.#exits[top];
  }

  /** Orders a span before what is below it. */
  orderOf(place: number): number {
    return this.#enters[place];
  }

  #parentOf({ traceId, parentSpanId }: TimedSpan): number {
    return parentSpanId === '' ? NONE : this.placeOf({ traceId, spanId: parentSpanId });
  }

  #walk(root: number, from: number, firstChild: Int32Array, nextSibling: Int32Array): number {
    let number = from;
    const path = [root];
    const cursors = [firstChild[root]];
    this.#enters[root] = number++;
    while (path.length > 0) {
      const child = cursors[cursors.length - 1];
      if (child === NONE) {
        cursors.pop();
        this.#exits[path.pop() as number] = number;
        continue;
      }
      cursors[cursors.length - 1] = nextSibling[child];
      if (this.#enters[child] !== NONE) continue;
      path.push(child);
      cursors.push(firstChild[child]);
      this.#enters[child] = number++;
    }
    return number;
  }
}
