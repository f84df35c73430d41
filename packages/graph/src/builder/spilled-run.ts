// A batch written to the temporary file: sorted keys with their marks, and for each graph the nodes with their references and values.
// A key's local number is its place among the run's sorted keys.
import type { MemoryRun } from './memory-run.js';
import type { KeyCursor, NodeNumbers, Run } from './run.js';
import { MIN_BUFFER_BYTES, type Region, type SpillFile, SpillReader, SpillWriter } from './spill-file.js';

const BUFFER_BYTES = 64 * 1024;
/** Marks of a graph are two bits, so a byte holds those of four graphs. */
const GRAPHS_PER_BYTE = 4;

/** Append the marks of a key in all graphs. */
export const packMarks = (writer: SpillWriter, graphs: number, marks: (graph: number) => number): void => {
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
    return new SpilledNumbers(reader);
  }

  /** The values of `graph` in the order of its nodes, each a length and its bytes. */
  values(graph: number): SpillReader {
    return new SpillReader(this.#file, this.#graphs[graph].values, BUFFER_BYTES);
  }
}

class SpilledNumbers implements NodeNumbers {
  readonly #reader: SpillReader;

  constructor(reader: SpillReader) {
    this.#reader = reader;
  }

  next(): number {
    return this.#reader.varint();
  }

  skip(count: number): void {
    for (let left = count; left > 0; left--) this.#reader.varint();
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
export class SpilledKeys implements KeyCursor {
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
