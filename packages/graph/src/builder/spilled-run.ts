// Batches written to the temporary file: sorted keys with their marks, and for each graph the nodes with their references and values; a key's
// local number is its place among the run's sorted keys. Then the keys of all runs, merged on disk: a key that several runs have comes up
// once. For each run it is kept which node or ghost every local number stands for, so that references are resolved by one array look-up, a run
// at a time.

import { compareKeys } from '../dictionary/key-bytes.js';
import { duplicate, type MemoryRun } from './node-batch.js';
import {
  type GraphKeys,
  GraphKeysCounter,
  type KeyCursor,
  type KeySpace,
  NODE,
  type NodeNumbers,
  type Run,
  standing,
} from './run.js';
import { MIN_BUFFER_BYTES, type Region, type SpillFile, SpillReader, SpillWriter } from './spill-file.js';

const BUFFER_BYTES = 64 * 1024;
/** Marks of a graph are two bits, so a byte holds those of four graphs. */
const GRAPHS_PER_BYTE = 4;

/** Append the marks of a key in all graphs. */
const packMarks = (writer: SpillWriter, graphs: number, marks: (graph: number) => number): void => {
  for (let first = 0; first < graphs; first += GRAPHS_PER_BYTE) {
    let bits = 0;
    for (let graph = first; graph < Math.min(graphs, first + GRAPHS_PER_BYTE); graph++)
      bits |= marks(graph) << (2 * (graph - first));
    writer.byte(bits);
  }
};

interface GraphRegions {
  readonly nodeCount: number;
  readonly numbers: Region;
  readonly values: Region;
}

/** A run on disk. */
export class SpilledRun implements Run {
  readonly #file: SpillFile;
  readonly #keyRegion: Region;
  readonly #graphs: readonly GraphRegions[];

  private constructor(
    file: SpillFile,
    readonly keyCount: number,
    keyRegion: Region,
    graphs: readonly GraphRegions[],
  ) {
    this.#file = file;
    this.#keyRegion = keyRegion;
    this.#graphs = graphs;
  }

  /** Write `run`, whose batch may be cleared then. */
  static write(file: SpillFile, run: MemoryRun): SpilledRun {
    const { batch, sorted } = run;
    const keyRegion = writeKeys(file, run);
    const ranks = new Uint32Array(sorted.length);
    for (let rank = 0; rank < sorted.length; rank++) ranks[sorted[rank]] = rank;
    const graphs = batch.graphs.map(({ nodeCount }, graph): GraphRegions => {
      const numbers = writeNumbers(file, run, graph, ranks);
      return { nodeCount, numbers, values: writeValues(file, run, graph) };
    });
    return new SpilledRun(file, sorted.length, keyRegion, graphs);
  }

  nodeCount(graph: number): number {
    return this.#graphs[graph].nodeCount;
  }

  keys(bufferBytes = MIN_BUFFER_BYTES): KeyCursor {
    const reader = new SpillReader(this.#file, this.#keyRegion, bufferBytes);
    return new SpilledKeys(reader, this.keyCount, this.#graphs.length);
  }

  nodes(graph: number): NodeNumbers {
    const reader = new SpillReader(this.#file, this.#graphs[graph].numbers, BUFFER_BYTES);
    return {
      next: () => reader.varint(),
      skip: (count) => {
        for (let left = count; left > 0; left--) reader.varint();
      },
    };
  }

  /** The values of `graph` in the order of its nodes, each a length and its bytes. */
  values(graph: number): SpillReader {
    return new SpillReader(this.#file, this.#graphs[graph].values, BUFFER_BYTES);
  }
}

const writeKeys = (file: SpillFile, run: MemoryRun): Region => {
  const writer = new SpillWriter(file, BUFFER_BYTES);
  const graphs = run.batch.graphs.length;
  for (const keys = run.keys(); keys.next(); ) {
    writer.varint(keys.key.length);
    writer.raw(keys.key);
    packMarks(writer, graphs, (graph) => keys.marks(graph));
  }
  return writer.finish();
};

const writeNumbers = (file: SpillFile, run: MemoryRun, graph: number, ranks: Uint32Array): Region => {
  const writer = new SpillWriter(file, BUFFER_BYTES);
  const nodeCount = run.nodeCount(graph);
  const lists = run.batch.referenceLists(graph);
  const numbers = run.nodes(graph);
  for (let node = 0; node < nodeCount; node++) {
    writer.varint(ranks[numbers.next()]);
    for (let list = 0; list < lists; list++) {
      const length = numbers.next();
      writer.varint(length);
      for (let i = 0; i < length; i++) writer.varint(ranks[numbers.next()]);
    }
  }
  return writer.finish();
};

const writeValues = (file: SpillFile, run: MemoryRun, graph: number): Region => {
  const writer = new SpillWriter(file, BUFFER_BYTES);
  const count = run.batch.graphs[graph].valueAt.length;
  for (let node = 0; node < count; node++) {
    const value = run.value(graph, node);
    writer.varint(value.length);
    writer.raw(value);
  }
  return writer.finish();
};

/** Sorted keys with packed marks, as runs and merged keys have them. */
class SpilledKeys implements KeyCursor {
  local = -1;
  /** Keys of one length share a view, as in memory. */
  key: Uint8Array = Buffer.alloc(0);
  readonly #reader: SpillReader;
  readonly #count: number;
  readonly #packedMarks: Uint8Array;

  constructor(reader: SpillReader, count: number, graphs: number) {
    this.#reader = reader;
    this.#count = count;
    this.#packedMarks = new Uint8Array(Math.ceil(graphs / GRAPHS_PER_BYTE));
  }

  next(): boolean {
    if (this.local + 1 >= this.#count) return false;
    this.local++;
    const length = this.#reader.varint();
    if (this.key.length !== length) this.key = Buffer.allocUnsafeSlow(length);
    this.#reader.copy(this.key);
    this.#reader.copy(this.#packedMarks);
    return true;
  }

  marks(graph: number): number {
    return (this.#packedMarks[graph >>> 2] >>> (2 * (graph & 3))) & 3;
  }
}

/** Merges key cursors. */
class RunMerger {
  readonly #cursors: readonly KeyCursor[];
  /** Cursors by their next key, the least last. */
  readonly #queue: number[] = [];
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
    const queue = this.#queue;
    for (let last = queue.length - 1; last >= 0; last--) {
      if (this.members.length > 0 && this.#compare(queue[last], this.members[0]) !== 0) break;
      this.members.push(queue.pop() as number);
    }
    return this.members.length > 0;
  }

  #advance(cursor: number): void {
    if (!this.#cursors[cursor].next()) return;
    const queue = this.#queue;
    let [low, high] = [0, queue.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(queue[middle], cursor) > 0) low = middle + 1;
      else high = middle;
    }
    queue.splice(low, 0, cursor);
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
