// Orders the graphs of a file and writes it, whatever the nodes lie in. Everything is decided by keys and references alone: the same nodes give the
// same bytes, in whatever order and by whatever way they came. Values in memory are looked up; spilled ones are first put into buckets of
// neighbouring ordinals on disk, each of which fits into memory: every byte is written and read in long stretches, never sought one by one.

import { DEFAULT_MAX_INFLATED_BYTES } from '../container/codec.js';
import type { ContainerWriter } from '../container/container-writer.js';
import { CycleError, LimitError } from '../container/graph-error.js';
import { SectionId } from '../container/layout.js';
import { DictionaryBuilder } from '../dictionary/dictionary-builder.js';
import { shownKey } from '../dictionary/key-bytes.js';
import { encodeMeta, type GraphInfo } from '../meta.js';
import type { ReferenceRows } from '../nodes/node-blocks.js';
import { type Adjacency, FoundCycle, orderNodes } from '../nodes/node-order.js';
import {
  type Column,
  NODES_PER_BLOCK,
  TABLE_COPIES,
  writeBackPointers,
  writeReferences,
  writeValues,
} from '../nodes/node-table.js';
import type { CheckedOptions } from './builder-options.js';
import type { MemoryRun } from './node-batch.js';
import { BLANK, type BuilderInput, gatherAdjacency, gatherRows, NODE, NodeScan, standing } from './run.js';
import { type Region, type SpillFile, type SpillReader, SpillWriter } from './spill-file.js';
import type { SpilledRun } from './spilled-run.js';

/** The value of each ordinal; asked for in ascending order. The bytes are valid until the end of their block of nodes. */
type ValueOf = (ordinal: number) => Uint8Array;

/** A graph whose order is known. */
interface OrderedGraph {
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
interface SpilledInput extends BuilderInput {
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

/** A section that the builder's user adds. */
export interface ExtraSection {
  readonly id: number;
  readonly graph?: number;
  readonly bytes: Buffer;
}

/** What to write. */
export interface GraphSource extends BuilderInput {
  /** Values of a graph that keeps them. */
  values(ordered: OrderedGraph): ValueOf;
  /** References of each graph, ghosts among their targets. */
  readonly edgeCounts: readonly number[];
  readonly extraSections: readonly ExtraSection[];
}

/** Beyond this, the index of smaller blocks would not come with the first read of the file. */
const MANY_KEYS = 2 ** 18;
/** A reference takes this many bytes at most. */
const REFERENCE_BYTES = 5;
/** Keys of a cycle that its message names. */
const SHOWN_KEYS = 5;

/** Write the whole file, and finish its sink; the answer is its size and what it says of its graphs. */
export const writeGraph = (
  writer: ContainerWriter,
  source: GraphSource,
  options: CheckedOptions,
): { readonly bytes: number; readonly graphs: readonly GraphInfo[] } => {
  const graphs = describeGraphs(source, options);
  const { groupBytes, notes } = options;
  const meta = encodeMeta({ keyCount: source.space.keyCount, graphs, groupBytes, notes });
  writer.section({ id: SectionId.metaCopy }, meta);
  const ordinals = options.graphs.map((_, graph) => orderGraph(source, graph, options));
  const dictionary = writeKeys(writer, source, ordinals, options);
  writer.waymark();
  const tables = options.graphs.map(({ referenceLists }, graph) =>
    writeColumns(writer, source, { graph, referenceLists, ordinals: ordinals[graph] }, options),
  );
  for (const { bytes, ...name } of source.extraSections) writer.section(name, bytes);
  dictionary.finishFilter();
  writer.waymark();
  tables.forEach((table, graph) => {
    writer.section({ id: SectionId.nodeTable, graph }, table);
  });
  dictionary.finish();
  writer.section({ id: SectionId.meta }, meta);
  return { bytes: writer.finish(), graphs };
};

const describeGraphs = ({ space, edgeCounts }: GraphSource, options: CheckedOptions): GraphInfo[] =>
  space.graphs.map(({ nodeCount, ghostCount }, i) => {
    const { referenceLists, order, cycles, values, backPointers } = options.graphs[i];
    return {
      nodeCount,
      ghostCount,
      edgeCount: edgeCounts[i],
      referenceLists,
      order,
      cycles: cycles === 'allow',
      hasReferences: referenceLists > 0,
      hasValues: values,
      hasBackPointers: backPointers,
    };
  });

/** The ordinal of each node. */
const orderGraph = (source: GraphSource, graph: number, { graphs }: CheckedOptions): Uint32Array => {
  const { order: kind, referenceLists, cycles } = graphs[graph];
  const { groupStarts } = source.space.graphs[graph];
  const references = gatherAdjacency(source, graph, referenceLists);
  const order = orderNodes({ kind, references, allowCycles: cycles === 'allow', groupStarts });
  if (order instanceof FoundCycle) throw cycleError(source, graph, order.nodes);
  if (kind === 'trace-contiguous' && cycles === 'refuse' && crossesGroups(references, groupStarts)) {
    // Groups are ordered one by one, which does not show a cycle through several.
    const whole = orderNodes({ kind: 'root-first', references, allowCycles: false });
    if (whole instanceof FoundCycle) throw cycleError(source, graph, whole.nodes);
  }
  const ordinals = new Uint32Array(order.length);
  for (let place = 0; place < order.length; place++) ordinals[order[place]] = place;
  return ordinals;
};

const crossesGroups = ({ offsets, targets }: Adjacency, starts: Uint32Array): boolean => {
  for (let group = 0; group < starts.length; group++) {
    const [start, end] = [starts[group], starts[group + 1] ?? offsets.length - 1];
    for (let i = offsets[start]; i < offsets[end]; i++) if (targets[i] < start || targets[i] >= end) return true;
  }
  return false;
};

const cycleError = (source: GraphSource, graph: number, nodes: readonly number[]): CycleError => {
  const wanted = new Map<number, Buffer>(nodes.map((node) => [node, Buffer.alloc(0)]));
  let node = 0;
  for (const keys = source.space.keys(); keys.next(); ) {
    if (standing(keys.marks(graph)) !== NODE) continue;
    if (wanted.has(node)) wanted.set(node, Buffer.from(keys.key));
    node++;
  }
  const cycle = nodes.map((member) => wanted.get(member) as Buffer);
  const shown = cycle.slice(0, SHOWN_KEYS).map(shownKey).join(' -> ');
  const more = cycle.length > SHOWN_KEYS ? ` -> ... (${cycle.length} nodes)` : ` -> ${shownKey(cycle[0])}`;
  return new CycleError(
    `references of graph ${graph} go round in a circle: ${shown}${more}; cycles: 'allow' takes them`,
    cycle,
  );
};

const writeKeys = (
  writer: ContainerWriter,
  { space }: GraphSource,
  ordinals: readonly Uint32Array[],
  { graphs, blockKeys, keyCodec, groupBytes, filter }: CheckedOptions,
): DictionaryBuilder => {
  const options = {
    graphs: graphs.length,
    blockKeys: blockKeys ?? (space.keyCount > MANY_KEYS ? 256 : 128),
    keyCodec,
    groupBytes,
    filter,
  };
  const dictionary = new DictionaryBuilder(writer, options);
  const nodes = new Uint32Array(graphs.length);
  const ghosts = ordinals.map(({ length }) => length);
  const row = new Array<number>(graphs.length).fill(-1);
  for (const keys = space.keys(); keys.next(); ) {
    for (let graph = 0; graph < graphs.length; graph++) {
      const state = standing(keys.marks(graph));
      row[graph] = state === BLANK ? -1 : state === NODE ? ordinals[graph][nodes[graph]++] : ghosts[graph]++;
    }
    dictionary.add(keys.key, row);
  }
  dictionary.finishBlocks();
  dictionary.writeIndexCopy();
  return dictionary;
};

/**
 * Write the columns of a graph; the answer is the table of their blocks. They are written one by one, each with a copy of its part of
 * the table behind it: one is in memory at a time, and a file that is cut off keeps those before.
 */
const writeColumns = (
  writer: ContainerWriter,
  source: GraphSource,
  ordered: OrderedGraph,
  { graphs }: CheckedOptions,
): Buffer => {
  const { graph, referenceLists, ordinals } = ordered;
  const { nodeCount } = source.space.graphs[graph];
  const { values, backPointers } = graphs[graph];
  const tables: Buffer[] = [];
  const keep = (column: Column, table: Buffer): void => {
    writer.section({ id: TABLE_COPIES[column], graph }, table);
    writer.waymark();
    tables.push(table);
  };
  if (referenceLists > 0) {
    const references = gatherRows(source, graph, referenceLists, ordinals);
    checkReferenceBlocks(references, nodeCount, graph);
    keep('references', writeReferences(writer, graph, nodeCount, references));
  }
  if (values) keep('values', writeValues(writer, graph, nodeCount, withBlockLimit(source.values(ordered), graph)));
  if (backPointers) keep('backPointers', writeBackPointers(writer, graph, gatherRanks(source, ordered)));
  return Buffer.concat(tables);
};

/** The rank of the key of each ordinal, ghosts included. */
const gatherRanks = ({ space }: GraphSource, { graph, ordinals }: OrderedGraph): Uint32Array => {
  const { nodeCount, ghostCount } = space.graphs[graph];
  const ranks = new Uint32Array(nodeCount + ghostCount);
  let node = 0;
  let ghost = nodeCount;
  let rank = 0;
  for (const keys = space.keys(); keys.next(); rank++) {
    const state = standing(keys.marks(graph));
    if (state === NODE) ranks[ordinals[node++]] = rank;
    else if (state !== BLANK) ranks[ghost++] = rank;
  }
  return ranks;
};

const tooLarge = (graph: number, ordinal: number, what: string): LimitError =>
  new LimitError(
    `${what} of ${NODES_PER_BLOCK} neighbouring nodes of graph ${graph}, from number ${ordinal} on, take more than the ${DEFAULT_MAX_INFLATED_BYTES} bytes of a block that readers accept`,
  );

/** No block may be written that readers would refuse. */
const withBlockLimit = (value: ValueOf, graph: number): ValueOf => {
  let bytes = 0;
  return (ordinal) => {
    const own = value(ordinal);
    // A length takes up to four bytes beside the value.
    bytes = (ordinal % NODES_PER_BLOCK === 0 ? 0 : bytes) + own.length + 4;
    if (bytes > DEFAULT_MAX_INFLATED_BYTES) throw tooLarge(graph, ordinal - (ordinal % NODES_PER_BLOCK), 'the values');
    return own;
  };
};

const checkReferenceBlocks = (rows: readonly ReferenceRows[], nodeCount: number, graph: number): void => {
  for (let start = 0; start < nodeCount; start += NODES_PER_BLOCK) {
    const end = Math.min(nodeCount, start + NODES_PER_BLOCK);
    let numbers = 0;
    for (const { offsets } of rows) numbers += end - start + offsets[end] - offsets[start];
    if (numbers * REFERENCE_BYTES > DEFAULT_MAX_INFLATED_BYTES) throw tooLarge(graph, start, 'the references');
  }
};
