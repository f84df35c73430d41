// Orders the graphs of a file and writes it, whatever the nodes lie in. Everything is decided by keys and references alone: the same
// nodes give the same bytes, in whatever order and by whatever way they came.
import { DEFAULT_MAX_INFLATED_BYTES } from '../container/codec.js';
import type { ContainerWriter } from '../container/container-writer.js';
import { CycleError, LimitError } from '../container/graph-error.js';
import { SectionId } from '../container/layout.js';
import { DictionaryBuilder } from '../dictionary/dictionary-builder.js';
import { shownKey } from '../dictionary/key-bytes.js';
import { encodeMeta, type GraphInfo } from '../meta.js';
import { type Adjacency, FoundCycle, orderNodes } from '../nodes/node-order.js';
import {
  type Column,
  NODES_PER_BLOCK,
  TABLE_COPIES,
  writeBackPointers,
  writeReferences,
  writeValues,
} from '../nodes/node-table.js';
import type { ReferenceRows } from '../nodes/reference-block.js';
import type { CheckedOptions } from './builder-options.js';
import { type BuilderInput, gatherAdjacency, gatherRows } from './node-scan.js';
import type { OrderedGraph, ValueOf } from './ordered-values.js';
import { BLANK, NODE, standing } from './run.js';

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
