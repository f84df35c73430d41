// Small graph files of three kinds, and questions about each with the answers that the undamaged file gives.

import { CompactGraphBuilder } from '../../../src/builder/graph-builder.js';
import { CompactGraph } from '../../../src/compact-graph.js';
import { BufferSink } from '../../../src/container/container-writer.js';
import { BufferTransport } from '../../../src/container/transport/file-transport.js';
import { below, hashKeys, nameKeys, permutation, seeded, spanKeys } from '../../dictionary/support/random-keys.js';

/** Something asked of an open file; texts, so that answers can be compared fast. */
export type Question = (file: CompactGraph) => string;

/** A file, and what is true of it. */
export interface Sample {
  readonly bytes: Buffer;
  /** About one node or key each. */
  readonly small: readonly Question[];
  /** About a whole graph each. */
  readonly large: readonly Question[];
  readonly answers: ReadonlyMap<Question, string>;
}

/** Inflated bytes of a block that readers of samples accept: the declared bound. */
export const MAX_BLOCK_BYTES = 64 * 1024;

export const openSample = (bytes: Buffer, tailBytes = 2048): CompactGraph =>
  CompactGraph.openSync(new BufferTransport(bytes), {
    tailBytes,
    maxBlockBytes: MAX_BLOCK_BYTES,
    maxWalkBytes: 1024 * 1024,
  });

const text = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    part instanceof Uint8Array || part instanceof Uint32Array
      ? Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('hex')
      : part,
  );

/** A key in a graph, with all that the graph knows of its node. */
const aboutNode =
  (graph: number, key: Uint8Array): Question =>
  (file) => {
    const view = file.graph(graph);
    const { hasValues, hasReferences, hasBackPointers } = view.info;
    const ordinal = view.ordinalOfSync(key);
    if (ordinal === -1) return 'nowhere';
    const parts = { keys: hasBackPointers, values: hasValues, references: hasReferences };
    const [node] = view.nodesSync([ordinal], parts);
    const names = hasBackPointers ? (node.references ?? []).map((list) => view.keysOfSync(list)) : [];
    return text([node.ordinal, node.isGhost, node.key, node.value, node.references, names]);
  };

const aboutAncestry =
  (graph: number, key: Uint8Array): Question =>
  (file) => {
    const view = file.graph(graph);
    const { nodes, ghosts } = view.ancestrySync([view.ordinalOfSync(key)]);
    return text([nodes, ghosts]);
  };

const sampleOf = (bytes: Buffer, small: readonly Question[], large: readonly Question[]): Sample => {
  const file = openSample(bytes);
  return { bytes, small, large, answers: new Map([...small, ...large].map((question) => [question, question(file)])) };
};

const built = (builder: CompactGraphBuilder, sink: BufferSink): Buffer => {
  builder.finishSync();
  return sink.toBuffer();
};

/** Commits by hash: values, back pointers, merges, ghosts. */
const hashes = (): Sample => {
  const random = seeded(11);
  const count = 1400;
  const shuffled = hashKeys(count);
  const keys = permutation(count, random).map((i) => shuffled[i]);
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, { graphs: [{ referenceLists: 1, order: 'child-first' }] });
  const ghost = Buffer.alloc(20, 7);
  keys.forEach((key, i) => {
    const parents = i === 0 ? [ghost] : [keys[i - 1], ...(i % 4 === 0 ? [keys[below(random, i)]] : [])];
    builder.add(0, key, Buffer.from(`commit ${i}, tree ${i % 10}`), [parents]);
  });
  const small = [...keys, ghost, Buffer.alloc(20, 8)].map((key) => aboutNode(0, key));
  const large = [
    aboutAncestry(0, keys[count - 1]),
    aboutAncestry(0, keys[300]),
    (file: CompactGraph) => text(file.graph(0).keysOfSync(Uint32Array.from({ length: count }, (_, i) => i))),
    (file: CompactGraph) => text([...file.graph(0).scanSync({ values: true })].flat().map(({ value }) => value)),
  ];
  return sampleOf(built(builder, sink), small, large);
};

/** Revisions by name: two graphs over one key space, one with two lists and circles, one of names alone. */
const names = (): Sample => {
  const random = seeded(12);
  const keys = nameKeys(900);
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [
      { referenceLists: 2, order: 'root-first', cycles: 'allow' },
      { referenceLists: 0, order: 'child-first', values: false },
    ],
    notes: { from: 'a test' },
  });
  const any = (): Buffer => keys[below(random, keys.length)];
  keys.forEach((key, i) => {
    if (i % 9 > 0) builder.add(0, key, Buffer.alloc(i % 23, i), [[any()], i % 3 === 0 ? [any(), any()] : []]);
    if (i % 2 === 0) builder.add(1, key, undefined, []);
  });
  const small = [...keys, Buffer.from('nobody')].flatMap((key) => [aboutNode(0, key), aboutNode(1, key)]);
  const large = [
    aboutAncestry(0, keys[1]),
    (file: CompactGraph) => text(file.graph(0).referencesSync()),
    (file: CompactGraph) => text(file.dictionary.allKeysSync()),
    (file: CompactGraph) => text([...file.dictionary.rangeSync({ prefix: keys[5].subarray(0, 8) })]),
    (file: CompactGraph) => text(file.meta),
  ];
  return sampleOf(built(builder, sink), small, large);
};

/** Spans grouped by trace: a filter, an extra section, no values, and absent parents. */
const spans = (): Sample => {
  const traces = 60;
  const each = 20;
  const keys = spanKeys(traces, each);
  const sink = new BufferSink();
  const builder = new CompactGraphBuilder(sink, {
    graphs: [{ referenceLists: 1, order: 'trace-contiguous', values: false, backPointers: false }],
    groupBytes: 16,
    filter: true,
  });
  keys.forEach((key, i) => {
    const root = i - (i % each);
    const absent = Buffer.concat([key.subarray(0, 16), Buffer.alloc(8, 255)]);
    const parent = i === root ? [] : i % 7 === 0 ? [absent] : [keys[root + Math.floor((i - root) / 3)]];
    builder.add(0, key, undefined, [parent]);
  });
  builder.extraSection(1000, 0, Buffer.from('columns of spans '.repeat(300)));
  const small = keys.map((key) => aboutNode(0, key));
  const large = [
    (file: CompactGraph) =>
      text(file.dictionary.lookupPrefixesSync([keys[0].subarray(0, 16), keys[500].subarray(0, 16)])),
    (file: CompactGraph) => text(file.graph(0).referencesSync()),
    (file: CompactGraph) => text(file.extraSectionSync(1000, 0)),
    (file: CompactGraph) => {
      file.dictionary.loadFilterSync();
      return text(keys.map((key) => file.dictionary.mayHavePrefix(key.subarray(0, 16))));
    },
  ];
  return sampleOf(built(builder, sink), small, large);
};

/** Made when it is first asked for. */
const once = (make: () => Sample): (() => Sample) => {
  let made: Sample | undefined;
  return () => {
    made ??= make();
    return made;
  };
};

export const SAMPLES: Readonly<Record<string, () => Sample>> = {
  hashes: once(hashes),
  names: once(names),
  spans: once(spans),
};
