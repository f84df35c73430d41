// Spans that have not ended, as blocks: rows that end when the snapshot is taken. Runs once a snapshot, in one stretch, so that no span is both
// open and ended in it.
import { getOrMake } from '../base/maps/get-or-make.js';
import { nameText, numberOfName } from '../local-span/name-table.js';
import { CHUNK_ROWS, Flag, RowChunk } from '../local-span/row-chunk.js';
import { writeDetails } from '../local-span/span-details.js';
import type { ActiveTrace } from '../span/active-trace.js';
import type { Span } from '../span/span.js';
import type { Block } from './block.js';
import { BlockMaker } from './block-maker.js';

const allocate = (bytes: number): ArrayBuffer => new ArrayBuffer(bytes);

/** @param taken Ticks. */
export const openBlocks = (spans: readonly Span[], taken: number): Block[] => {
  const maker = new BlockMaker(allocate);
  const blocks: Block[] = [];
  let chunk = new RowChunk(CHUNK_ROWS);
  let slots = new Map<ActiveTrace, number>();
  const close = (): void => {
    const block = chunk.count === 0 ? undefined : maker.makeOf(chunk, [...slots.keys()]);
    if (block !== undefined) blocks.push(block);
    chunk = new RowChunk(CHUNK_ROWS);
    slots = new Map();
  };
  for (const span of spans) {
    const { trace, isRoot, parentHi, parentLo } = span;
    // One that found no place in its trace has the id of its parent.
    if (trace === null || trace.isDiscarded || (span.idHi === parentHi && span.idLo === parentLo)) continue;
    const slot = getOrMake(slots, trace, () => slots.size);
    const name = numberOfName(span.name);
    const text = name === 0 ? nameText(span.name) : null;
    if (text !== null || span.propertyList !== null || span.details !== null) {
      writeDetails(chunk.entries, span, text, null);
    }
    const { isRemote, hasSpan } = trace.context;
    const flags = isRoot ? Flag.root | (isRemote && hasSpan ? Flag.remoteParent : 0) : 0;
    chunk.add(span, parentHi, parentLo, slot, name, span.rowFlags | flags, taken);
    if (chunk.isFull) close();
  }
  close();
  return blocks;
};
