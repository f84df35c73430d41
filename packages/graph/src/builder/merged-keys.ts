// The keys of all spilled runs, merged on disk: a key that several runs have comes up once. For each run it keeps which node or ghost every
// local number stands for, so that references are resolved by one array look-up, a run at a time.

import { compareKeys } from '../dictionary/key-bytes.js';
import { duplicate } from './node-batch.js';
import { type GraphKeys, GraphKeysCounter, type KeyCursor, type KeySpace, NODE, standing } from './run.js';
import { MIN_BUFFER_BYTES, type Region, type SpillFile, SpillReader, SpillWriter } from './spill-file.js';
import { packMarks, SpilledKeys, type SpilledRun } from './spilled-run.js';

/** Merges key cursors. */
class RunMerger {
  readonly #cursors: readonly KeyCursor[];
  /** Cursors by their next key, the least first. */
  readonly #heap: number[] = [];
  /** Cursors that stand at `key`, in no order. */
  readonly members: number[] = [];

  constructor(cursors: readonly KeyCursor[]) {
    this.#cursors = cursors;
    for (let i = 0; i < cursors.length; i++) this.#advance(i);
  }

  /** The key that `next` went to. */
  get key(): Uint8Array {
    return this.#cursors[this.members[0]].key;
  }

  /** Go to the next key; false when there is none. */
  next(): boolean {
    for (const member of this.members) this.#advance(member);
    this.members.length = 0;
    if (this.#heap.length === 0) return false;
    const first = this.#pop();
    this.members.push(first);
    while (this.#heap.length > 0 && this.#compare(this.#heap[0], first) === 0) this.members.push(this.#pop());
    return true;
  }

  #advance(cursor: number): void {
    if (!this.#cursors[cursor].next()) return;
    const heap = this.#heap;
    let place = heap.push(cursor) - 1;
    while (place > 0) {
      const parent = (place - 1) >>> 1;
      if (this.#compare(heap[parent], cursor) <= 0) break;
      heap[place] = heap[parent];
      place = parent;
    }
    heap[place] = cursor;
  }

  #pop(): number {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop() as number;
    if (heap.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#compare(heap[child + 1], heap[child]) < 0) child++;
      if (this.#compare(last, heap[child]) <= 0) break;
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = last;
    return first;
  }

  #compare(a: number, b: number): number {
    return compareKeys(this.#cursors[a].key, this.#cursors[b].key);
  }
}

const MAX_BUFFER_BYTES = 64 * 1024;
/** Ghosts count down from here while the number of nodes is not known. */
const LAST = 0xffffffff;

/** Buffers of this many bytes for reading and writing beside each run, within `memoryBytes`. */
const mergeBufferBytes = (runs: number, memoryBytes: number): number =>
  Math.min(MAX_BUFFER_BYTES, Math.floor(memoryBytes / (2 * runs + 2)));

/** Runs that can be merged at once within `memoryBytes`. */
export const maxRuns = (memoryBytes: number): number => Math.floor(memoryBytes / (2 * MIN_BUFFER_BYTES)) - 1;

/** Merged keys on disk. */
export class MergedKeys implements KeySpace {
  keyCount = 0;
  readonly graphs: readonly GraphKeys[];
  readonly #file: SpillFile;
  readonly #runs: readonly SpilledRun[];
  readonly #graphCount: number;
  readonly #merged: Region;
  /** For each run and key a number for each graph. */
  readonly #maps: readonly Region[];
  readonly #scratch: Uint32Array;

  constructor(
    file: SpillFile,
    runs: readonly SpilledRun[],
    graphCount: number,
    groupBytes: number,
    memoryBytes: number,
  ) {
    this.#file = file;
    this.#runs = runs;
    this.#graphCount = graphCount;
    const bufferBytes = mergeBufferBytes(runs.length, memoryBytes);
    const cursors = runs.map((run) => run.keys(bufferBytes));
    this.#maps = runs.map(({ keyCount }) => file.reserve(keyCount * graphCount * 4));
    const mapWriters = this.#maps.map((region) => new SpillWriter(file, bufferBytes, region));
    const writer = new SpillWriter(file, bufferBytes);
    const counter = new GraphKeysCounter(graphCount, groupBytes);
    const merger = new RunMerger(cursors);
    const combined = new Uint8Array(graphCount);
    const numbers = new Uint32Array(graphCount);
    while (merger.next()) {
      const { key, members } = merger;
      counter.nextKey(key);
      for (let graph = 0; graph < graphCount; graph++) {
        let marks = 0;
        for (const member of members) {
          const own = cursors[member].marks(graph);
          if ((marks & own & NODE) !== 0) throw duplicate(graph, key);
          marks |= own;
        }
        combined[graph] = standing(marks);
        numbers[graph] =
          marks === 0 ? 0 : (marks & NODE) !== 0 ? counter.nodeCounts[graph] : LAST - counter.ghostCounts[graph];
        counter.count(graph, combined[graph]);
      }
      for (const member of members) for (const number of numbers) mapWriters[member].uint32(number);
      writer.varint(key.length);
      writer.raw(key);
      packMarks(writer, graphCount, (graph) => combined[graph]);
      this.keyCount++;
    }
    for (const mapWriter of mapWriters) mapWriter.finish();
    this.#merged = writer.finish();
    this.graphs = counter.result();
    this.#scratch = new Uint32Array(runs.reduce((max, { keyCount }) => Math.max(max, keyCount), 0));
  }

  keys(): KeyCursor {
    return new SpilledKeys(
      new SpillReader(this.#file, this.#merged, MAX_BUFFER_BYTES),
      this.keyCount,
      this.#graphCount,
    );
  }

  /** One array serves all calls. */
  numbers(run: number, graph: number): Uint32Array {
    const { keyCount } = this.#runs[run];
    const { nodeCount } = this.graphs[graph];
    const reader = new SpillReader(this.#file, this.#maps[run], MAX_BUFFER_BYTES);
    const after = (this.#graphCount - 1 - graph) * 4;
    for (let i = 0; i < keyCount; i++) {
      reader.skip(graph * 4);
      const number = reader.uint32();
      this.#scratch[i] = number < nodeCount ? number : nodeCount + (LAST - number);
      reader.skip(after);
    }
    return this.#scratch;
  }
}
