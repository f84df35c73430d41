// The graph of links: spans that have links, and what they link to. Its nodes are ordered as every graph of traces is; a target that has
// no links itself, present or not, is a ghost.
import { type Adjacency, orderNodes } from '../../../graph/nodes/node-order.js';
import type { ReferenceRows } from '../../../graph/nodes/reference-block.js';
import type { ArchivedLink, ArchivedSpan } from '../../../trace/archived-span.js';
import { KEY_BYTES, parseId } from '../ids.js';
import type { SpanRows } from '../order/span-rows.js';
import type { SpanOrder } from '../order/trace-order.js';

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

const textOf = ({ traceId, spanId }: { readonly traceId: string; readonly spanId: string }): string => traceId + spanId;

/** The graph of all links of `order`. */
export const buildLinkGraph = ({ spans }: SpanRows, { rows, keyNodes, keyFirsts, spanCount }: SpanOrder): LinkGraph => {
  // Nodes in the order of their keys, by trace.
  const sources: ArchivedSpan[] = [];
  const sourceOrdinals: number[] = [];
  const groupStarts: number[] = [];
  const nodes = new Map<string, number>();
  for (let trace = 0; trace + 1 < keyFirsts.length; trace++) {
    const before = sources.length;
    for (let key = keyFirsts[trace]; key < keyFirsts[trace + 1]; key++) {
      const ordinal = keyNodes[key];
      if (ordinal < 0 || spans[rows[ordinal]].links.length === 0) continue;
      nodes.set(textOf(spans[rows[ordinal]]), sources.length);
      sourceOrdinals.push(ordinal);
      sources.push(spans[rows[ordinal]]);
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
    for (const link of sources[node].links) {
      const target = nodes.get(textOf(link));
      targets.push(target === undefined ? (ghostPlaces.get(textOf(link)) as number) : places[target]);
    }
    offsets[place + 1] = targets.length;
  });
  return { nodeCount: order.length, ordinals, ghosts, references: { offsets, targets: Uint32Array.from(targets) } };
};

const adjacency = (sources: readonly ArchivedSpan[], nodes: ReadonlyMap<string, number>): Adjacency => {
  const offsets = new Uint32Array(sources.length + 1);
  const targets: number[] = [];
  sources.forEach(({ links }, node) => {
    for (const link of links) {
      const target = nodes.get(textOf(link));
      if (target !== undefined) targets.push(target);
    }
    offsets[node + 1] = targets.length;
  });
  return { offsets, targets: Uint32Array.from(targets) };
};

const ghostKeys = (sources: readonly ArchivedSpan[], nodes: ReadonlyMap<string, number>): Buffer[] => {
  const keys = new Map<string, Buffer>();
  for (const { links } of sources) {
    for (const link of links) {
      const text = textOf(link);
      if (!nodes.has(text) && !keys.has(text)) keys.set(text, linkKey(link));
    }
  }
  return [...keys.values()].sort(Buffer.compare);
};
