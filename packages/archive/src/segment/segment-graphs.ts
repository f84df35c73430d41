// The graphs of a segment, parents and links, and the keys of their nodes. A span refers to its parent, or to nothing. The graph of links
// has the spans that have links, and what they link to; a target that has no links itself, present or not, is a ghost.
//
// The dictionary takes all keys in order: spans and absent parents trace by trace, and between them what only links refer to.

import { type ContainerWriter, DictionaryBuilder, type ReferenceRows } from '@spanline/graph';
import { type Adjacency, orderNodes } from '@spanline/graph/internal';
import type { ArchivedLink } from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { KEY_BYTES, parseId, TRACE_ID_BYTES } from '../values/fields.js';
import { ghostOf, NO_PARENT, type SpanOrder } from './trace-order.js';

export const parentRows = ({ parents, spanCount }: SpanOrder): ReferenceRows => {
  const offsets = new Uint32Array(spanCount + 1);
  const targets = new Uint32Array(spanCount);
  let count = 0;
  for (let i = 0; i < spanCount; i++) {
    const parent = parents[i];
    if (parent !== NO_PARENT) targets[count++] = parent >= 0 ? parent : spanCount + ghostOf(parent);
    offsets[i + 1] = count;
  }
  return { offsets, targets: targets.subarray(0, count) };
};

/** Links as a graph. */
export interface LinkGraph {
  readonly nodeCount: number;
  /** Ordinal in this graph of each span that has links, by ordinal of the span; -1 for the others. */
  readonly ordinals: Int32Array;
  /** Keys of the ghosts, ascending: the first has ordinal `nodeCount`. */
  readonly ghosts: readonly Buffer[];
  readonly references: ReferenceRows;
}

const idWords = new Uint32Array(KEY_BYTES / 4);

/** The key that a link refers to. */
export const linkKey = ({ traceId, spanId }: ArchivedLink): Buffer => {
  parseId(traceId, 'trace id of a link', 4, idWords, 0);
  parseId(spanId, 'span id of a link', 2, idWords, 4);
  const key = Buffer.allocUnsafe(KEY_BYTES);
  for (let i = 0; i < idWords.length; i++) key.writeUInt32BE(idWords[i], i * 4);
  return key;
};

/** Links of each span that has some. */
type Sources = readonly (readonly ArchivedLink[])[];

const textOf = ({ traceId, spanId }: ArchivedLink): string => traceId + spanId;

/** The graph of all links of `order`. */
export const buildLinkGraph = (input: SpanRows, { rows, keyNodes, keyFirsts, spanCount }: SpanOrder): LinkGraph => {
  // Nodes in the order of their keys, by trace.
  const sources: (readonly ArchivedLink[])[] = [];
  const sourceOrdinals: number[] = [];
  const groupStarts: number[] = [];
  const nodes = new Map<string, number>();
  for (let trace = 0; trace + 1 < keyFirsts.length; trace++) {
    const before = sources.length;
    for (let key = keyFirsts[trace]; key < keyFirsts[trace + 1]; key++) {
      const ordinal = keyNodes[key];
      const links = ordinal < 0 ? [] : input.links(rows[ordinal]);
      if (links.length === 0) continue;
      nodes.set(input.traceId(rows[ordinal]) + input.spanId(rows[ordinal]), sources.length);
      sourceOrdinals.push(ordinal);
      sources.push(links);
    }
    if (sources.length > before) groupStarts.push(before);
  }
  const order = orderNodes({
    kind: 'trace-contiguous',
    references: adjacency(sources, nodes),
    allowCycles: true,
    groupStarts,
  }) as Uint32Array;
  const places = new Uint32Array(order.length);
  order.forEach((node, place) => {
    places[node] = place;
  });
  const ordinals = new Int32Array(spanCount).fill(-1);
  sourceOrdinals.forEach((ordinal, node) => {
    ordinals[ordinal] = places[node];
  });
  const ghosts = ghostKeys(sources, nodes);
  const ghostPlaces = new Map(ghosts.map((key, i) => [key.toString('hex'), order.length + i]));
  const offsets = new Uint32Array(order.length + 1);
  const targets: number[] = [];
  order.forEach((node, place) => {
    for (const link of sources[node]) {
      const target = nodes.get(textOf(link));
      targets.push(target === undefined ? (ghostPlaces.get(textOf(link)) as number) : places[target]);
    }
    offsets[place + 1] = targets.length;
  });
  return { nodeCount: order.length, ordinals, ghosts, references: { offsets, targets: Uint32Array.from(targets) } };
};

const adjacency = (sources: Sources, nodes: ReadonlyMap<string, number>): Adjacency => {
  const offsets = new Uint32Array(sources.length + 1);
  const targets: number[] = [];
  sources.forEach((links, node) => {
    for (const link of links) {
      const target = nodes.get(textOf(link));
      if (target !== undefined) targets.push(target);
    }
    offsets[node + 1] = targets.length;
  });
  return { offsets, targets: Uint32Array.from(targets) };
};

const ghostKeys = (sources: Sources, nodes: ReadonlyMap<string, number>): Buffer[] => {
  const keys = new Map<string, Buffer>();
  for (const link of sources.flat()) {
    const text = textOf(link);
    if (!nodes.has(text) && !keys.has(text)) keys.set(text, linkKey(link));
  }
  return [...keys.values()].sort(Buffer.compare);
};

/** An index of about so many blocks stays in one piece. */
const MAX_BLOCKS = 600;
const MIN_BLOCK_KEYS = 128;
const MAX_BLOCK_KEYS = 1024;

/** What was written. */
interface SegmentKeys {
  readonly dictionary: DictionaryBuilder;
  readonly keyCount: number;
  /** Rank of the first key of each trace. */
  readonly traceRanks: Float64Array;
}

const blockKeysFor = (keys: number): number => {
  let blockKeys = MIN_BLOCK_KEYS;
  while (blockKeys < MAX_BLOCK_KEYS && keys / blockKeys > MAX_BLOCKS) blockKeys *= 2;
  return blockKeys;
};

/** Write the blocks of the dictionary. */
export const writeKeys = (
  writer: ContainerWriter,
  { traces: { words } }: SpanRows,
  order: SpanOrder,
  links: LinkGraph | undefined,
): SegmentKeys => {
  const { traces, keyFirsts, keyNodes, keyWords, spanCount } = order;
  const linkGhosts = links?.ghosts ?? [];
  const dictionary = new DictionaryBuilder(writer, {
    graphs: links === undefined ? 1 : 2,
    blockKeys: blockKeysFor(keyNodes.length + linkGhosts.length),
    groupBytes: TRACE_ID_BYTES,
  });
  const traceRanks = new Float64Array(traces.length);
  const key = Buffer.alloc(KEY_BYTES);
  const ordinals = links === undefined ? [-1] : [-1, -1];
  let nextGhost = 0;
  let keyCount = 0;
  const addLinkGhost = (): void => {
    dictionary.add(linkGhosts[nextGhost], [-1, (links as LinkGraph).nodeCount + nextGhost]);
    nextGhost++;
    keyCount++;
  };
  for (let trace = 0; trace < traces.length; trace++) {
    for (let i = 0; i < 4; i++) key.writeUInt32BE(words[4 * traces[trace] + i], i * 4);
    traceRanks[trace] = -1;
    for (let k = keyFirsts[trace]; k < keyFirsts[trace + 1]; k++) {
      key.writeUInt32BE(keyWords[2 * k], TRACE_ID_BYTES);
      key.writeUInt32BE(keyWords[2 * k + 1], TRACE_ID_BYTES + 4);
      while (nextGhost < linkGhosts.length && linkGhosts[nextGhost].compare(key) < 0) addLinkGhost();
      if (traceRanks[trace] < 0) traceRanks[trace] = keyCount;
      const node = keyNodes[k];
      ordinals[0] = node >= 0 ? node : spanCount + ghostOf(node);
      if (links !== undefined) {
        ordinals[1] = node >= 0 ? links.ordinals[node] : -1;
        if (nextGhost < linkGhosts.length && linkGhosts[nextGhost].equals(key))
          ordinals[1] = links.nodeCount + nextGhost++;
      }
      dictionary.add(key, ordinals);
      keyCount++;
    }
  }
  while (nextGhost < linkGhosts.length) addLinkGhost();
  dictionary.finishBlocks();
  return { dictionary, keyCount, traceRanks };
};
