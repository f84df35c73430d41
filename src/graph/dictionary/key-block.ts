// The keys of one block: which codecs there are. Decoding trusts no number it reads.
import type { ByteReader } from '../../base/bytes/byte-reader.js';
import type { ByteWriter } from '../../base/bytes/byte-writer.js';
import { sectionReader } from '../../container/layout.js';
import { decodeFixedKeys, encodeFixedKeys } from './fixed-keys.js';
import { decodeFrontKeys, encodeFrontKeys } from './front-keys.js';
import { decodeGroupedKeys, encodeGroupedKeys } from './grouped-keys.js';
import type { KeyBlock, KeysToEncode } from './key-codec.js';

/** How the keys of a block are written. */
export type KeyCodec = 'fixed' | 'front' | 'grouped';

/** Codecs by their number in files. */
const CODECS: readonly KeyCodec[] = ['fixed', 'front', 'grouped'];

/** Whether these keys can be written so. */
export const isPossible = (codec: KeyCodec, { width, groupBytes }: KeysToEncode): boolean => {
  switch (codec) {
    case 'front':
      return true;
    case 'fixed':
      return width > 0;
    case 'grouped':
      return groupBytes > 0 && width > groupBytes;
  }
};

const ENCODERS: Readonly<Record<KeyCodec, (writer: ByteWriter, tails: ByteWriter, keys: KeysToEncode) => void>> = {
  fixed: (writer, _tails, keys) => encodeFixedKeys(writer, keys),
  front: encodeFrontKeys,
  grouped: (writer, _tails, keys) => encodeGroupedKeys(writer, keys),
};

const DECODERS: Readonly<Record<KeyCodec, (reader: ByteReader, tails: ByteReader, count: number) => KeyBlock>> = {
  fixed: (reader, _tails, count) => decodeFixedKeys(reader, count),
  front: decodeFrontKeys,
  grouped: (reader, _tails, count) => decodeGroupedKeys(reader, count),
};

/** Append `keys`, for which `codec` is possible; what would only spoil the compression of the rest goes to `tails`. */
export const encodeKeys = (writer: ByteWriter, tails: ByteWriter, codec: KeyCodec, keys: KeysToEncode): void => {
  writer.byte(CODECS.indexOf(codec));
  ENCODERS[codec](writer, tails, keys);
};

/** The `count` keys of block `block`; the caller has capped `count`. */
export const decodeKeys = (
  bytes: Uint8Array,
  tailBytes: Uint8Array,
  count: number,
  block: number,
  file: string,
): KeyBlock => {
  const what = `block ${block} of the dictionary of ${file}`;
  const reader = sectionReader(bytes, what, 'dictionaryBlocks', block);
  const tails = sectionReader(tailBytes, what, 'dictionaryBlocks', block);
  const codec = CODECS[reader.byte()];
  if (codec === undefined) throw reader.corrupt('has an unknown key codec');
  const keys = DECODERS[codec](reader, tails, count);
  reader.end();
  tails.end();
  return keys;
};
