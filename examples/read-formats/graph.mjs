// "Graphs" of docs/formats.md: the nodes of each graph, with keys, values and references.
import { times } from './bytes.mjs';
import { openContainer, placeBlocks, readKeys, restore } from './container.mjs';

const NODES_PER_BLOCK = 512;

/** One reference list of the nodes of a block: ordinals, by node. */
const referenceList = (block, first, count) => {
  const form = block.byte();
  let last = first;
  return times(count, block.varint).map((head, i) =>
    times(Math.floor(head / 2), (edge) => {
      const node = first + i;
      if (edge === 0 && head % 2 === 1) return node + ((form & 1) === 1 ? -1 : 1);
      last = ((form & 2) === 2 ? last : node) + block.zigzag();
      return last;
    }),
  );
};

/** The references and values of a graph's nodes, by ordinal. */
export const readColumns = ({ bytes, place, read }, graph, { nodeCount, referenceLists, hasReferences, hasValues }) => {
  const table = read(13, graph);
  const column = (section, isThere, decode) => {
    if (!isThere) return [];
    const blocks = times(Math.ceil(nodeCount / NODES_PER_BLOCK), () => {
      const [stored] = times(2, table.varint);
      return { stored, codec: table.byte(), crc: table.u32() };
    });
    placeBlocks(blocks, place(section, graph).offset);
    return blocks.flatMap((block, b) => {
      const first = b * NODES_PER_BLOCK;
      return decode(restore(bytes, block), first, Math.min(NODES_PER_BLOCK, nodeCount - first));
    });
  };
  const references = column(10, hasReferences, (block, first, count) => {
    const lists = times(referenceLists, () => referenceList(block, first, count));
    return times(count, (i) => lists.map((list) => list[i]));
  });
  const values = column(11, hasValues, (block, _, count) => times(count, block.varint).map(block.raw));
  return { references, values };
};

/** The key of each ordinal of a graph. */
export const keysByOrdinal = (keys, graph) => {
  const byOrdinal = [];
  for (const { key, ordinals } of keys) if (ordinals[graph] >= 0) byOrdinal[ordinals[graph]] = key;
  return byOrdinal;
};

export const readGraph = (bytes) => {
  const file = openContainer(bytes);
  const keys = readKeys(file);
  const graphs = file.meta.graphs.map((info, graph) => {
    const keyOf = keysByOrdinal(keys, graph);
    const { references, values } = readColumns(file, graph, info);
    const nodes = times(info.nodeCount, (i) => ({
      key: keyOf[i],
      value: values[i],
      references: (references[i] ?? []).map((list) => list.map((ordinal) => keyOf[ordinal])),
    }));
    return { nodes, ghosts: keyOf.slice(info.nodeCount) };
  });
  return { notes: file.meta.notes, graphs };
};
