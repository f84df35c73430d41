// Which track of a trace a span is drawn on. Slices of one track must nest, and spans of asynchronous work overlap: a span is drawn inside its
// parent only where nothing else of that parent runs at the same time, else on the lowest track that is free. Two spans that overlap must never
// share a track unless one is the other's ancestor.

/** A span as the tracks see it. Times in nanoseconds from any one moment; an open span ends at Infinity. */
export interface TrackSpan {
  readonly startNs: number;
  readonly endNs: number;
  /** Place of the parent among the spans; -1 where it is not there. */
  readonly parent: number;
  /** One synchronous stretch of its parent's thread: it is drawn inside the parent whatever else runs. */
  readonly isLocal: boolean;
}

/** Told of a span that ends on a track. */
type Ended = (i: number, track: number) => void;

/** Which spans, in order of start, are to be drawn inside their parents. */
const nested = (spans: readonly TrackSpan[]): Uint8Array => {
  const nests = new Uint8Array(spans.length).fill(1);
  // Of the children of a span so far, the one that ends last.
  const last = new Int32Array(spans.length).fill(-1);
  for (let i = 0; i < spans.length; i++) {
    const { parent, startNs, endNs } = spans[i];
    if (parent < 0) continue;
    const before = last[parent];
    if (before >= 0 && spans[before].endNs > startNs) nests[before] = nests[i] = 0;
    if (before < 0 || endNs >= spans[before].endNs) last[parent] = i;
  }
  for (let i = 0; i < spans.length; i++) {
    if (spans[i].parent < 0) nests[i] = 0;
    else if (spans[i].isLocal) nests[i] = 1;
  }
  return nests;
};

/** Numbers, the least first out. */
class Heap {
  readonly #items: number[] = [];

  readonly #isLess: (a: number, b: number) => boolean;

  constructor(isLess: (a: number, b: number) => boolean) {
    this.#isLess = isLess;
  }

  get first(): number | undefined {
    return this.#items[0];
  }

  push(item: number): void {
    const items = this.#items;
    let at = items.push(item) - 1;
    for (let up = (at - 1) >> 1; at > 0 && this.#isLess(item, items[up]); at = up, up = (at - 1) >> 1)
      items[at] = items[up];
    items[at] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const first = items[0];
    const item = items.pop();
    if (items.length === 0 || item === undefined) return first;
    let at = 0;
    for (;;) {
      let down = at * 2 + 1;
      if (down >= items.length) break;
      if (down + 1 < items.length && this.#isLess(items[down + 1], items[down])) down++;
      if (!this.#isLess(items[down], item)) break;
      items[at] = items[down];
      at = down;
    }
    items[at] = item;
    return first;
  }
}

/** Takes spans in order of their start, each once. */
export class Tracks {
  readonly #spans: readonly TrackSpan[];
  readonly #nests: Uint8Array;
  readonly #trackOf: Int32Array;
  readonly #isOpen: Uint8Array;
  /** What is open on each track, the outermost first. */
  readonly #open: number[][] = [];
  readonly #free = new Heap((a, b) => a < b);
  /** Tracks with something open, by the end of the outermost. */
  readonly #busy: Heap;

  constructor(spans: readonly TrackSpan[]) {
    this.#spans = spans;
    this.#nests = nested(spans);
    this.#trackOf = new Int32Array(spans.length).fill(-1);
    this.#isOpen = new Uint8Array(spans.length);
    this.#busy = new Heap((a, b) => spans[this.#open[a][0]].endNs < spans[this.#open[b][0]].endNs);
  }

  /** The track of span `i`. `ended` is called for what ends on that track before it begins, the innermost first. */
  place(i: number, ended: Ended): number {
    const span = this.#spans[i];
    const track = this.#insideParent(i, ended) ?? this.#lowestFree(span.startNs, ended);
    this.#trackOf[i] = track;
    this.#isOpen[i] = 1;
    const open = this.#open[track];
    open.push(i);
    if (open.length === 1) this.#busy.push(track);
    return track;
  }

  /** Ends what is still open; a step is a track. */
  *end(ended: Ended): Generator<undefined> {
    for (let track = 0; track < this.#open.length; track++) {
      this.#pop(track, Number.POSITIVE_INFINITY, ended);
      yield;
    }
  }

  #insideParent(i: number, ended: Ended): number | undefined {
    const { parent, startNs, endNs } = this.#spans[i];
    if (this.#nests[i] === 0 || this.#trackOf[parent] < 0 || endNs > this.#spans[parent].endNs) return undefined;
    // The parent has ended: the track may be another's.
    if (this.#isOpen[parent] === 0 || this.#spans[parent].endNs <= startNs) return undefined;
    const track = this.#trackOf[parent];
    this.#pop(track, startNs, ended);
    return this.#open[track].at(-1) === parent ? track : undefined;
  }

  #lowestFree(startNs: number, ended: Ended): number {
    for (let track = this.#busy.first; track !== undefined; track = this.#busy.first) {
      if (this.#spans[this.#open[track][0]].endNs > startNs) break;
      this.#busy.pop();
      this.#pop(track, startNs, ended);
      this.#free.push(track);
    }
    return this.#free.pop() ?? this.#open.push([]) - 1;
  }

  #pop(track: number, untilNs: number, ended: Ended): void {
    const open = this.#open[track];
    for (let i = open.at(-1); i !== undefined && this.#spans[i].endNs <= untilNs; i = open.at(-1)) {
      open.pop();
      this.#isOpen[i] = 0;
      ended(i, track);
    }
  }
}
