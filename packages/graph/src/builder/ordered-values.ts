// Values in the order of ordinals. In memory they are looked up; spilled ones are first put into buckets of neighbouring ordinals on
// disk, each of which fits into memory: every byte is written and read in long stretches, never sought one by one.
import { NODES_PER_BLOCK } from '../nodes/node-table.js';
import type { MemoryRun } from './memory-run.js';
import { type BuilderInput, NodeScan } from './node-scan.js';
import { type Region, type SpillFile, type SpillReader, SpillWriter } from './spill-file.js';
import type { SpilledRun } from './spilled-run.js';

/** The value of each ordinal; asked for in ascending order. The bytes are valid until the end of their block of nodes. */
export type ValueOf = (ordinal: number) => Uint8Array;

/** A graph whose order is known. */
export interface OrderedGraph {
  readonly graph: number;
  readonly referenceLists: number;
  /** Ordinal of each node. */
  readonly ordinals: Uint32Array;
}

const skipReferences = (scan: NodeScan, lists: number): void => {
  for (let list = 0; list < lists; list++) scan.skipList();
};

/** Values of a run in memory. */
export const valuesInMemory = (input: BuilderInput, run: MemoryRun, ordered: OrderedGraph): ValueOf => {
  const { graph, referenceLists, ordinals } = ordered;
  const added = new Uint32Array(ordinals.length);
  const scan = new NodeScan(input, graph);
  for (let node = 0; scan.next(); node++) {
    added[ordinals[scan.node]] = node;
    skipReferences(scan, referenceLists);
  }
  return (ordinal) => run.value(graph, added[ordinal]);
};

/** Spilled runs and where they are. */
export interface SpilledInput extends BuilderInput {
  readonly runs: readonly SpilledRun[];
  readonly file: SpillFile;
}

/** `visit` reads or skips the value's `length` bytes from `reader`. */
type VisitValue = (ordinal: number, length: number, reader: SpillReader) => void;

const eachValue = (input: SpilledInput, { graph, referenceLists, ordinals }: OrderedGraph, visit: VisitValue): void => {
  let reader: SpillReader | undefined;
  let run = -1;
  for (const scan = new NodeScan(input, graph); scan.next(); ) {
    if (reader === undefined || scan.run !== run) {
      run = scan.run;
      reader = input.runs[run].values(graph);
    }
    visit(ordinals[scan.node], reader.varint(), reader);
    skipReferences(scan, referenceLists);
  }
};

/** What stands before each value in a bucket: its ordinal and its length. */
const RECORD_BYTES = 8;
const MAX_BUFFER_BYTES = 64 * 1024;
const MIN_BUFFER_BYTES = 512;

/** Neighbouring ordinals from `first` to `end`. */
interface Bucket {
  readonly first: number;
  readonly end: number;
  readonly region: Region;
}

/** Values of spilled runs, by means of `memoryBytes`, or of one block of values when that is more. */
export const spilledValues = (input: SpilledInput, ordered: OrderedGraph, memoryBytes: number): ValueOf => {
  const blockBytes = new Float64Array(Math.ceil(ordered.ordinals.length / NODES_PER_BLOCK));
  eachValue(input, ordered, (ordinal, length, reader) => {
    blockBytes[Math.floor(ordinal / NODES_PER_BLOCK)] += RECORD_BYTES + length;
    reader.skip(length);
  });
  const buckets = planBuckets(input.file, blockBytes, ordered.ordinals.length, memoryBytes / 2);
  fillBuckets(input, ordered, buckets, memoryBytes / 2);
  return readBuckets(input.file, buckets);
};

const planBuckets = (file: SpillFile, blockBytes: Float64Array, nodeCount: number, bucketBytes: number): Bucket[] => {
  const buckets: Bucket[] = [];
  for (let block = 0; block < blockBytes.length; ) {
    const first = block * NODES_PER_BLOCK;
    let bytes = blockBytes[block++];
    while (block < blockBytes.length && bytes + blockBytes[block] <= bucketBytes) bytes += blockBytes[block++];
    buckets.push({ first, end: Math.min(nodeCount, block * NODES_PER_BLOCK), region: file.reserve(bytes) });
  }
  return buckets;
};

const fillBuckets = (
  input: SpilledInput,
  ordered: OrderedGraph,
  buckets: readonly Bucket[],
  memoryBytes: number,
): void => {
  const share = Math.floor(memoryBytes / Math.max(1, buckets.length));
  const bufferBytes = Math.max(MIN_BUFFER_BYTES, Math.min(MAX_BUFFER_BYTES, share));
  const writers = buckets.map(({ region }) => new SpillWriter(input.file, bufferBytes, region));
  const bucketOf = new Uint32Array(Math.ceil(ordered.ordinals.length / NODES_PER_BLOCK));
  buckets.forEach(({ first, end }, i) => {
    bucketOf.fill(i, first / NODES_PER_BLOCK, Math.ceil(end / NODES_PER_BLOCK));
  });
  eachValue(input, ordered, (ordinal, length, reader) => {
    const writer = writers[bucketOf[Math.floor(ordinal / NODES_PER_BLOCK)]];
    writer.uint32(ordinal);
    writer.uint32(length);
    writer.raw(reader.raw(length));
  });
  for (const writer of writers) writer.finish();
};

const readBuckets = (file: SpillFile, buckets: readonly Bucket[]): ValueOf => {
  const max = (of: (bucket: Bucket) => number): number => buckets.reduce((sum, bucket) => Math.max(sum, of(bucket)), 0);
  const memory = Buffer.allocUnsafeSlow(max(({ region }) => region.end - region.start));
  const starts = new Float64Array(max(({ first, end }) => end - first));
  let next = 0;
  let loaded: Bucket = { first: 0, end: 0, region: { start: 0, end: 0 } };
  const load = (bucket: Bucket): void => {
    const bytes = memory.subarray(0, bucket.region.end - bucket.region.start);
    file.read(bytes, bucket.region.start);
    for (let at = 0; at < bytes.length; at += RECORD_BYTES + bytes.readUInt32LE(at + 4))
      starts[bytes.readUInt32LE(at) - bucket.first] = at;
    loaded = bucket;
  };
  return (ordinal) => {
    while (ordinal >= loaded.end) load(buckets[next++]);
    const at = starts[ordinal - loaded.first];
    const length = memory.readUInt32LE(at + 4);
    return memory.subarray(at + RECORD_BYTES, at + RECORD_BYTES + length);
  };
};
