// The keys of one block: which codecs there are, and which of them a block takes, the one whose stored form is smallest. Decoding trusts no
// number it reads. Trying costs time, so only what may win is tried; the same keys must always give the same choice.

import { type ByteReader, ByteWriter } from 'spanline/internal/base';
import { type Compression, entropyBytes, RANDOM_SHARE, type Stored, store } from '../container/codec.js';
import { sectionReader } from '../container/layout.js';
import { decodeFixedKeys, decodeGroupedKeys, encodeFixedKeys, encodeGroupedKeys } from './fixed-keys.js';
import { decodeFrontKeys, encodeFrontKeys } from './front-keys.js';
import type { KeyBlock, KeysToEncode } from './key-bytes.js';

/** Estimates are wrong by this share at most, nearly always. */
const DOUBT = 0.15;

/** The two parts of a block; valid until the next one is encoded. */
interface EncodedKeys {
  readonly keys: Buffer;
  /** `keys` as they are stored, where that had to be tried. */
  readonly storedKeys: Stored | undefined;
  readonly tails: Buffer;
}

interface Candidate {
  readonly codec: KeyCodec;
  readonly keys: ByteWriter;
  readonly tails: ByteWriter;
  estimate: number;
  stored: Stored | undefined;
}

/** Encodes blocks of keys; keeps its buffers from block to block. */
export class KeyEncoder {
  readonly #wanted: KeyCodec | 'auto';
  readonly #compression: Compression;
  readonly #candidates: Readonly<Record<KeyCodec, Candidate>>;

  constructor(wanted: KeyCodec | 'auto', compression: Compression) {
    this.#wanted = wanted;
    this.#compression = compression;
    const candidate = (codec: KeyCodec): Candidate => ({
      codec,
      keys: new ByteWriter(64 * 1024),
      tails: new ByteWriter(),
      estimate: 0,
      stored: undefined,
    });
    this.#candidates = { fixed: candidate('fixed'), front: candidate('front'), grouped: candidate('grouped') };
  }

  /** Encode a block. A codec that was asked for and is not possible gives way to `front`. */
  encode(keys: KeysToEncode): EncodedKeys {
    const wanted = this.#wanted;
    const chosen =
      wanted === 'auto' ? this.#choose(keys) : this.#tryCodec(isPossible(wanted, keys) ? wanted : 'front', keys);
    return { keys: chosen.keys.view(), storedKeys: chosen.stored, tails: chosen.tails.view() };
  }

  #tryCodec(codec: KeyCodec, keys: KeysToEncode): Candidate {
    const candidate = this.#candidates[codec];
    candidate.keys.clear();
    candidate.tails.clear();
    candidate.stored = undefined;
    encodeKeys(candidate.keys, candidate.tails, codec, keys);
    candidate.estimate = entropyBytes(candidate.keys.view()) + candidate.tails.length;
    return candidate;
  }

  #choose(keys: KeysToEncode): Candidate {
    const possible: Candidate[] = [];
    for (const codec of ['grouped', 'fixed'] as const) {
      if (isPossible(codec, keys)) possible.push(this.#tryCodec(codec, keys));
    }
    // Random ids: nothing shrinks them further, and front coding has more bytes than either.
    const smallest = possible.reduce<Candidate | undefined>(
      (min, next) => (min === undefined || next.keys.length < min.keys.length ? next : min),
      undefined,
    );
    if (smallest !== undefined && smallest.estimate > smallest.keys.length * RANDOM_SHARE) return smallest;
    possible.push(this.#tryCodec('front', keys));
    const best = Math.min(...possible.map(({ estimate }) => estimate));
    const plausible = possible.filter(({ estimate }) => estimate <= best * (1 + DOUBT));
    if (plausible.length === 1) return plausible[0];
    const sizes = plausible.map((candidate) => {
      candidate.stored = store(candidate.keys.view(), this.#compression);
      return candidate.stored.bytes.length + candidate.tails.length;
    });
    return plausible[sizes.indexOf(Math.min(...sizes))];
  }
}

/** How the keys of a block are written. */
export type KeyCodec = 'fixed' | 'front' | 'grouped';

/** Codecs by their number in files. */
const CODECS: readonly KeyCodec[] = ['fixed', 'front', 'grouped'];
/** What a builder may be asked for. */
export const WANTED_CODECS: readonly (KeyCodec | 'auto')[] = ['auto', ...CODECS];

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
