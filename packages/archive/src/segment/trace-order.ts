// The order of a segment's spans: traces by id, in each the root first and every span before its children, children by start. It also
// finds doubles and parents that are absent, and gives the halves of a call that share an id ids of their own. The same spans give the same order, however they came.

import type { SpanRows } from '../rows/span-rows.js';
import { halvesApart, mayBeOfHalf } from '../shared-ids.js';
import { KINDS, longer } from '../values/fields.js';

/** `parents` of a root. */
export const NO_PARENT = -1;
/** The number of an absent parent as `parents` has it, and back. */
const ghostParent = (ghost: number): number => -2 - ghost;
export const ghostOf = (parent: number): number => -2 - parent;

/** Where every span stands. */
export interface SpanOrder {
  readonly spanCount: number;
  /** The row of each ordinal. */
  readonly rows: Uint32Array;
  /** The parent of each ordinal: an ordinal, `NO_PARENT`, or an absent one, by `ghostParent`. */
  readonly parents: Int32Array;
  readonly ghostCount: number;
  /** Traces by id: their numbers in `SpanRows`. */
  readonly traces: Uint32Array;
  /** The first ordinal of each trace; one more than there are traces. */
  readonly firsts: Uint32Array;
  /** Keys of each trace, spans and absent parents by id: two words each, and the ordinal or `ghostParent`. */
  readonly keyWords: Uint32Array;
  readonly keyNodes: Int32Array;
  /** The first key of each trace; one more than there are traces. */
  readonly keyFirsts: Uint32Array;
  /** Rows left out because a later one has the same ids. */
  readonly doubles: number;
}

/** Longer lists are sorted by the runtime. */
const INSERTION_SORT = 48;

/** Negative when row `a` stands before row `b`. */
type Compare = (a: number, b: number) => number;

const sortRows = (rows: Uint32Array, start: number, end: number, compare: Compare): void => {
  if (end - start > INSERTION_SORT) {
    rows.subarray(start, end).sort(compare);
    return;
  }
  for (let i = start + 1; i < end; i++) {
    const row = rows[i];
    let to = i;
    for (; to > start && compare(row, rows[to - 1]) < 0; to--) rows[to] = rows[to - 1];
    rows[to] = row;
  }
};

/** Rows grouped by trace, traces by id: counted, then dealt out. */
const groupRows = (
  input: SpanRows,
): { readonly traces: Uint32Array; readonly starts: Uint32Array; readonly rows: Uint32Array } => {
  const { trace, count } = input;
  const { words } = input.traces;
  const counts = new Uint32Array(input.traces.count);
  for (let row = 0; row < count; row++) counts[trace[row]]++;
  const traces = Uint32Array.from(counts.keys())
    .filter((number) => counts[number] > 0)
    .sort(
      (a, b) =>
        words[4 * a] - words[4 * b] ||
        words[4 * a + 1] - words[4 * b + 1] ||
        words[4 * a + 2] - words[4 * b + 2] ||
        words[4 * a + 3] - words[4 * b + 3],
    );
  const place = new Uint32Array(counts.length);
  traces.forEach((number, i) => {
    place[number] = i;
  });
  const starts = new Uint32Array(traces.length + 1);
  for (let i = 0; i < traces.length; i++) starts[i + 1] = starts[i] + counts[traces[i]];
  const next = starts.slice(0, traces.length);
  const rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) rows[next[place[trace[row]]]++] = row;
  return { traces, starts, rows };
};

/** Bring all spans into order. */
export const orderSpans = (input: SpanRows): SpanOrder => {
  const { traces, starts, rows } = groupRows(input);
  return new Ordering(input, traces, starts, rows).run();
};

class Ordering {
  readonly #input: SpanRows;
  readonly #traces: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #grouped: Uint32Array;
  readonly #order: Uint32Array;
  readonly #parents: Int32Array;
  readonly #firsts: Uint32Array;
  readonly #keyFirsts: Uint32Array;
  #keyWords: Uint32Array;
  #keyNodes: Int32Array;
  #keyCount = 0;
  #spanCount = 0;
  #ghostCount = 0;
  #doubles = 0;

  // Of one trace, by place in the order of ids.
  readonly #places: Uint32Array;
  readonly #parentPlaces: Int32Array;
  readonly #firstChild: Int32Array;
  readonly #nextSibling: Int32Array;
  readonly #ordinals: Int32Array;
  readonly #stack: Int32Array;
  /** Places of spans whose parents are absent. */
  readonly #orphans: number[] = [];
  /** For each absent parent, by id, a row that names it. */
  readonly #ghosts: number[] = [];

  constructor(input: SpanRows, traces: Uint32Array, starts: Uint32Array, grouped: Uint32Array) {
    this.#input = input;
    this.#traces = traces;
    this.#starts = starts;
    this.#grouped = grouped;
    const { count } = input;
    let longest = 0;
    for (let i = 0; i < traces.length; i++) longest = Math.max(longest, starts[i + 1] - starts[i]);
    this.#order = new Uint32Array(count);
    this.#parents = new Int32Array(count);
    this.#firsts = new Uint32Array(traces.length + 1);
    this.#keyFirsts = new Uint32Array(traces.length + 1);
    this.#keyWords = new Uint32Array(2 * count);
    this.#keyNodes = new Int32Array(count);
    this.#places = new Uint32Array(longest);
    this.#parentPlaces = new Int32Array(longest);
    this.#firstChild = new Int32Array(longest);
    this.#nextSibling = new Int32Array(longest);
    this.#ordinals = new Int32Array(longest);
    this.#stack = new Int32Array(longest + 1);
  }

  run(): SpanOrder {
    for (let i = 0; i < this.#traces.length; i++) {
      const start = this.#starts[i];
      const end = this.#sortById(start, this.#starts[i + 1]);
      if (this.#linkParents(start, end)) {
        this.#setHalvesApart(start, end);
        this.#linkParents(start, end);
      }
      this.#walk(start, end);
      this.#addKeys(start, end);
      this.#firsts[i + 1] = this.#spanCount;
      this.#keyFirsts[i + 1] = this.#keyCount;
    }
    return {
      spanCount: this.#spanCount,
      rows: this.#order.subarray(0, this.#spanCount),
      parents: this.#parents.subarray(0, this.#spanCount),
      ghostCount: this.#ghostCount,
      traces: this.#traces,
      firsts: this.#firsts,
      keyWords: this.#keyWords.subarray(0, 2 * this.#keyCount),
      keyNodes: this.#keyNodes.subarray(0, this.#keyCount),
      keyFirsts: this.#keyFirsts,
      doubles: this.#doubles,
    };
  }

  /** Sort the rows of a trace by span id; of rows with the same id the last stays. The answer is where they end now. */
  #sortById(start: number, end: number): number {
    const grouped = this.#grouped;
    const { id } = this.#input;
    const sort = (): void =>
      sortRows(grouped, start, end, (a, b) => id[2 * a] - id[2 * b] || id[2 * a + 1] - id[2 * b + 1] || a - b);
    sort();
    if (this.#mayHaveHalves(start, end)) {
      this.#setHalvesApart(start, end);
      sort();
    }
    let kept = start;
    for (let i = start; i < end; i++) {
      if (i + 1 < end && this.#isSameId(grouped[i], grouped[i + 1])) this.#doubles++;
      else grouped[kept++] = grouped[i];
    }
    return kept;
  }

  #isSameId(a: number, b: number): boolean {
    const { id } = this.#input;
    return id[2 * a] === id[2 * b] && id[2 * a + 1] === id[2 * b + 1];
  }

  /** Whether sorted rows share an id and are not made alike. */
  #mayHaveHalves(start: number, end: number): boolean {
    const grouped = this.#grouped;
    const { kind, resource } = this.#input;
    for (let i = start + 1; i < end; i++) {
      const [row, next] = [grouped[i - 1], grouped[i]];
      if (this.#isSameId(row, next) && (kind[row] !== kind[next] || resource[row] !== resource[next])) return true;
    }
    return false;
  }

  /** Few traces have any: whole spans are read. */
  #setHalvesApart(start: number, end: number): void {
    const rows = this.#grouped.subarray(start, end);
    const spans = Array.from(rows, (row) => this.#input.span(row));
    halvesApart(spans).forEach(({ spanId, parentSpanId }, i) => {
      this.#input.setIds(rows[i], spanId, parentSpanId);
    });
  }

  /** Find the parents of a trace's rows; true where some may belong to a half that was set apart from their parent before. */
  #linkParents(start: number, end: number): boolean {
    const grouped = this.#grouped;
    const parentPlaces = this.#parentPlaces;
    const orphans = this.#orphans;
    const { hasParent, parent, kind, resource } = this.#input;
    let hasStray = false;
    orphans.length = 0;
    for (let i = start; i < end; i++) {
      const row = grouped[i];
      const place = hasParent[row] === 0 ? NO_PARENT : this.#placeOf(start, end, parent[2 * row], parent[2 * row + 1]);
      parentPlaces[i - start] = place;
      if (place < NO_PARENT) orphans.push(i - start);
      if (place < 0) continue;
      const above = grouped[start + place];
      if (resource[row] !== resource[above] && mayBeOfHalf(KINDS[kind[row]], KINDS[kind[above]])) hasStray = true;
    }
    this.#numberGhosts(start);
    return hasStray;
  }

  /** The place of a span id among the rows of a trace, or -2. */
  #placeOf(start: number, end: number, high: number, low: number): number {
    const grouped = this.#grouped;
    const { id } = this.#input;
    let [from, to] = [start, end];
    while (from < to) {
      const middle = (from + to) >>> 1;
      const row = grouped[middle];
      const difference = id[2 * row] - high || id[2 * row + 1] - low;
      if (difference === 0) return middle - start;
      if (difference < 0) from = middle + 1;
      else to = middle;
    }
    return -2;
  }

  /** Give each absent parent of a trace its number, by id. */
  #numberGhosts(start: number): void {
    const ghosts = this.#ghosts;
    const orphans = this.#orphans;
    const grouped = this.#grouped;
    const parentPlaces = this.#parentPlaces;
    const { parent } = this.#input;
    ghosts.length = 0;
    if (orphans.length === 0) return;
    const compare = (a: number, b: number): number =>
      parent[2 * a] - parent[2 * b] || parent[2 * a + 1] - parent[2 * b + 1];
    orphans.sort((a, b) => compare(grouped[start + a], grouped[start + b]));
    for (const place of orphans) {
      const row = grouped[start + place];
      if (ghosts.length === 0 || compare(ghosts[ghosts.length - 1], row) !== 0) ghosts.push(row);
      parentPlaces[place] = ghostParent(this.#ghostCount + ghosts.length - 1);
    }
  }

  /** Number the spans of a trace: roots by start, then children of absent parents, then what only cycles reach. */
  #walk(start: number, end: number): void {
    const grouped = this.#grouped;
    const places = this.#places;
    const parentPlaces = this.#parentPlaces;
    const firstChild = this.#firstChild;
    const nextSibling = this.#nextSibling;
    const ordinals = this.#ordinals;
    const count = end - start;
    const { start: starts } = this.#input;
    for (let place = 0; place < count; place++) {
      places[place] = place;
      firstChild[place] = -1;
      ordinals[place] = -1;
    }
    sortRows(places, 0, count, (a, b) => {
      const [rowA, rowB] = [grouped[start + a], grouped[start + b]];
      return starts.high(rowA) - starts.high(rowB) || starts.low(rowA) - starts.low(rowB) || a - b;
    });
    for (let i = count - 1; i >= 0; i--) {
      const place = places[i];
      const parent = parentPlaces[place];
      if (parent < 0) continue;
      nextSibling[place] = firstChild[parent];
      firstChild[parent] = place;
    }
    const first = this.#spanCount;
    for (let i = 0; i < count; i++) if (parentPlaces[places[i]] === NO_PARENT) this.#visit(places[i], start);
    for (let i = 0; i < count; i++) if (parentPlaces[places[i]] < NO_PARENT) this.#visit(places[i], start);
    for (let i = 0; this.#spanCount - first < count; i++) if (ordinals[places[i]] < 0) this.#visit(places[i], start);
    for (let place = 0; place < count; place++) {
      const parent = parentPlaces[place];
      this.#parents[ordinals[place]] = parent < 0 ? parent : ordinals[parent];
    }
  }

  #visit(head: number, start: number): void {
    const grouped = this.#grouped;
    const firstChild = this.#firstChild;
    const nextSibling = this.#nextSibling;
    const ordinals = this.#ordinals;
    const order = this.#order;
    const stack = this.#stack;
    let depth = 0;
    stack[depth++] = head;
    nextSibling[head] = -1;
    while (depth > 0) {
      const place = stack[--depth];
      // Its siblings come when all below it has come; one of a cycle may have been the head.
      if (nextSibling[place] >= 0) stack[depth++] = nextSibling[place];
      if (ordinals[place] >= 0) continue;
      ordinals[place] = this.#spanCount;
      order[this.#spanCount++] = grouped[start + place];
      if (firstChild[place] >= 0) stack[depth++] = firstChild[place];
    }
  }

  /** The keys of a trace: its spans and absent parents, merged by id. */
  #addKeys(start: number, end: number): void {
    const grouped = this.#grouped;
    const ghosts = this.#ghosts;
    const ordinals = this.#ordinals;
    const { id, parent } = this.#input;
    let ghost = 0;
    const addGhost = (): void => {
      const row = ghosts[ghost];
      this.#addKey(parent[2 * row], parent[2 * row + 1], ghostParent(this.#ghostCount + ghost++));
    };
    for (let i = start; i < end; i++) {
      const row = grouped[i];
      for (; ghost < ghosts.length; addGhost()) {
        const other = ghosts[ghost];
        if ((parent[2 * other] - id[2 * row] || parent[2 * other + 1] - id[2 * row + 1]) > 0) break;
      }
      this.#addKey(id[2 * row], id[2 * row + 1], ordinals[i - start]);
    }
    while (ghost < ghosts.length) addGhost();
    this.#ghostCount += ghosts.length;
  }

  #addKey(high: number, low: number, node: number): void {
    if (this.#keyCount === this.#keyNodes.length) {
      this.#keyWords = longer(this.#keyWords, 4 * this.#keyCount);
      this.#keyNodes = longer(this.#keyNodes, 2 * this.#keyCount);
    }
    this.#keyWords[2 * this.#keyCount] = high;
    this.#keyWords[2 * this.#keyCount + 1] = low;
    this.#keyNodes[this.#keyCount++] = node;
  }
}
