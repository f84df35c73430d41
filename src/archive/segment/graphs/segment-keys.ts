// All keys of a segment in order: spans and absent parents trace by trace, and between them what only links refer to. They go into the
// dictionary; what the traces' ranks become is kept.
import type { ContainerWriter } from '../../../container/container-writer.js';
import { DictionaryBuilder } from '../../../graph/dictionary/dictionary-builder.js';
import { KEY_BYTES, TRACE_ID_BYTES } from '../ids.js';
import type { SpanRows } from '../order/span-rows.js';
import { ghostOf, type SpanOrder } from '../order/trace-order.js';
import type { LinkGraph } from './link-graph.js';

/** An index of about so many blocks stays in one piece. */
const MAX_BLOCKS = 600;
const MIN_BLOCK_KEYS = 128;
const MAX_BLOCK_KEYS = 1024;

/** What was written. */
export interface SegmentKeys {
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
  { traceWords }: SpanRows,
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
    for (let i = 0; i < 4; i++) key.writeUInt32BE(traceWords[4 * traces[trace] + i], i * 4);
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
