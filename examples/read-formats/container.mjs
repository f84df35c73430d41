// "The container" and "The dictionary" of docs/formats.md: checked sections, and keys with their ordinals.
import * as zlib from 'node:zlib';
import { Reader, times } from './bytes.mjs';

const CODECS = [(plain) => plain, zlib.inflateRawSync, zlib.zstdDecompressSync];

/** A reader of a section or block as it was before it was stored. */
export const restore = (file, { offset, stored, codec, crc }) => {
  const bytes = file.subarray(offset, offset + stored);
  if (zlib.crc32(bytes) !== crc) throw new Error(`the ${stored} bytes at ${offset} are damaged`);
  if (CODECS[codec] === undefined) throw new Error(`this Node does not have codec ${codec}`);
  return new Reader(CODECS[codec](bytes));
};

export const openContainer = (bytes) => {
  const footerCrc = bytes.readUInt32LE(bytes.length - 12);
  const footer = restore(bytes, { offset: bytes.length - 56, stored: 44, codec: 0, crc: footerCrc });
  const [tocOffset, tocLength, fileLength] = times(3, () => Number(footer.u64()));
  if (fileLength !== bytes.length) throw new Error(`the file should have ${fileLength} bytes`);
  const toc = restore(bytes, { offset: tocOffset, stored: tocLength, codec: 0, crc: footer.u32() });
  const sections = times(tocLength / 40, () => {
    const [id, graph, , codec] = times(4, toc.u16);
    const [offset, stored] = times(3, () => Number(toc.u64()));
    const [crc] = times(2, toc.u32);
    return { id, graph, codec, offset, stored, crc };
  });
  const place = (id, graph = 0xffff) => sections.find((section) => section.id === id && section.graph === graph);
  const read = (id, graph) => restore(bytes, place(id, graph));
  return { bytes, place, read, meta: JSON.parse(read(1).bytes.toString()) };
};

/** Give blocks that lie one behind the other their offsets. */
export const placeBlocks = (blocks, offset) => {
  let end = offset;
  for (const block of blocks) {
    block.offset = end;
    end += block.stored;
  }
};

/** The blocks that a table describes, each of `parts` parts; separators are passed over, since only a look-up needs them. */
const blockTable = (table, parts, sectionOffset) => {
  const count = table.varint();
  const first = table.varint();
  times(count, table.varint);
  for (const length of times(count, table.varint)) table.raw(length);
  const columns = times(parts, () => {
    const codecs = times(count, table.byte);
    let stored = 0;
    const blocks = codecs.map((codec) => {
      stored += table.zigzag();
      return { codec, stored };
    });
    times(count, table.varint);
    return blocks;
  });
  for (const block of columns.flat()) block.crc = table.u32();
  const blocks = times(count, (i) => columns.map((column) => column[i]));
  placeBlocks(blocks.flat(), sectionOffset + first);
  return blocks;
};

/** Strings of one length, ascending from each of which `isStart` is true. */
const fixedColumn = (keys, count, width, isStart = (i) => i === 0) => {
  const prefix = keys.raw(keys.varint());
  const headBytes = Math.min(4, width - prefix.length);
  const lowBits = keys.byte();
  let last = 0;
  const heads = keys.inBits(() =>
    times(count, (i) => {
      last = isStart(i) ? keys.bits(8 * headBytes) : last + keys.unary() * 2 ** lowBits + keys.bits(lowBits);
      return last;
    }),
  );
  return heads.map((head) => {
    const bytes = Buffer.from(head.toString(16).padStart(8, '0'), 'hex').subarray(4 - headBytes);
    return Buffer.concat([prefix, bytes, keys.raw(width - prefix.length - headBytes)]);
  });
};

const frontKeys = (keys, count, tails) => {
  const pairs = keys.varint();
  const shared = [0, ...times(count - 1, keys.varint)];
  const lengths = times(count, keys.varint);
  let front = Buffer.alloc(0);
  const fronts = lengths.map((length, i) => {
    front = Buffer.concat([front.subarray(0, shared[i]), keys.raw(length - shared[i])]);
    return front;
  });
  return fronts.map((bytes) => Buffer.concat([bytes, Buffer.from(tails.raw(pairs).toString('hex'))]));
};

const groupedKeys = (keys, count) => {
  const [width, groupBytes, groups] = times(3, keys.varint);
  const groupOf = times(groups, keys.varint).flatMap((size, group) => times(size, () => group));
  const firsts = fixedColumn(keys, groups, groupBytes);
  const rests = fixedColumn(keys, count, width - groupBytes, (i) => groupOf[i] !== groupOf[i - 1]);
  return rests.map((rest, i) => Buffer.concat([firsts[groupOf[i]], rest]));
};

const KEY_CODECS = [(keys, count) => fixedColumn(keys, count, keys.varint()), frontKeys, groupedKeys];

/** The ordinals of a block's keys in one graph, -1 where a key is not in it. */
const ordinalColumn = (bytes, count) => {
  const form = bytes.byte();
  const isPacked = form % 4 === 1;
  const isThere = bytes.inBits(() => times(count, () => (form < 4 ? form > 0 : bytes.bit() === 1)));
  const [lowest, width] = isPacked ? [bytes.varint(), bytes.byte()] : [0, 0];
  let last = 0;
  const ordinals = isThere.map((is) => {
    if (is) last = isPacked ? lowest + bytes.bits(width) : last + bytes.zigzag();
    return is ? last : -1;
  });
  return bytes.inBits(() => ordinals);
};

/** All keys, ascending, with their ordinal in each graph. */
export const readKeys = ({ bytes, read, place }) => {
  const index = read(3);
  const [, levels, keyCount, , blockKeys, graphs] = times(6, index.varint);
  const tables = levels === 1 ? [index] : blockTable(index, 1, place(4).offset).map(([part]) => restore(bytes, part));
  const blocks = tables.flatMap((table) => blockTable(table, 3, place(2).offset));
  return blocks.flatMap((parts, block) => {
    const count = Math.min(blockKeys, keyCount - block * blockKeys);
    const [keys, tails, ordinals] = parts.map((part) => restore(bytes, part));
    const columns = times(graphs, () => ordinalColumn(ordinals, count));
    const read = KEY_CODECS[keys.byte()](keys, count, tails);
    return read.map((key, i) => ({ key, ordinals: columns.map((column) => column[i]) }));
  });
};
