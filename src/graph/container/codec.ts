// How bytes are stored: as they are, deflated, or by zstd where the runtime has it. A declared length is a claim: nothing is
// inflated beyond it, and it is capped before memory is taken.
import * as zlib from 'node:zlib';
import { CorruptError, LimitError, UnsupportedVersionError } from '../graph-error.js';

/** The codecs, by their number in files. */
export const Codec = { stored: 0, deflate: 1, zstd: 2 } as const;

/** A way of compressing that a writer may ask for. */
export type Compression = 'deflate' | 'zstd' | 'none';

/** Inflated bytes of one block or section that a reader accepts unless it is told otherwise. */
export const DEFAULT_MAX_INFLATED_BYTES = 64 * 1024 * 1024;

/** Compressed only when it saves this share. */
const MIN_GAIN = 0.05;

/** Bytes as stored. */
export interface Stored {
  readonly bytes: Buffer;
  readonly codec: number;
  readonly inflatedLength: number;
  /** CRC-32 of `bytes`. */
  readonly crc: number;
}

/** What a reader must know of stored bytes. */
export interface StoredForm {
  readonly codec: number;
  readonly storedLength: number;
  readonly inflatedLength: number;
  readonly crc: number;
}

// Node 22.15 and later. The types of the oldest supported Node do not have it.
const zstd = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer;
  readonly zstdDecompressSync?: (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer;
};

/** Whether this runtime can write and read zstd. */
export const hasZstd = (): boolean => zstd.zstdCompressSync !== undefined;

const compress = (bytes: Buffer, compression: Compression): { readonly bytes: Buffer; readonly codec: number } => {
  if (compression === 'zstd' && zstd.zstdCompressSync !== undefined) {
    return { bytes: zstd.zstdCompressSync(bytes), codec: Codec.zstd };
  }
  return { bytes: zlib.deflateRawSync(bytes, { level: 6 }), codec: Codec.deflate };
};

/** `bytes` in the smaller form. */
export const store = (bytes: Buffer, compression: Compression = 'deflate'): Stored => {
  if (compression !== 'none' && bytes.length > 0) {
    const smaller = compress(bytes, compression);
    if (smaller.bytes.length <= bytes.length * (1 - MIN_GAIN)) {
      return { ...smaller, inflatedLength: bytes.length, crc: zlib.crc32(smaller.bytes) };
    }
  }
  return { bytes, codec: Codec.stored, inflatedLength: bytes.length, crc: zlib.crc32(bytes) };
};

/** Where stored bytes stand, for messages. */
export interface Place {
  readonly file: string;
  readonly section: string;
  readonly block?: number;
}

const inflate = (bytes: Buffer, { codec, inflatedLength }: StoredForm, { file, section }: Place): Buffer => {
  switch (codec) {
    case Codec.stored:
      return bytes;
    case Codec.deflate:
      // Zero is no limit to zlib.
      return zlib.inflateRawSync(bytes, { maxOutputLength: Math.max(1, inflatedLength) });
    case Codec.zstd:
      if (zstd.zstdDecompressSync !== undefined) {
        return zstd.zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, inflatedLength) });
      }
      throw new UnsupportedVersionError(`${section} of ${file} is compressed by zstd, which needs Node 22.15 or later`);
    default:
      throw new UnsupportedVersionError(
        `${section} of ${file} has codec ${codec}; read it with a newer version of spanline`,
      );
  }
};

/** The bytes behind `stored`. Throws `CorruptError` when they are damaged, `LimitError` when they would take more than `maxBytes`. */
export const restore = (
  stored: Buffer,
  form: StoredForm,
  place: Place,
  maxBytes = DEFAULT_MAX_INFLATED_BYTES,
): Buffer => {
  const { file, section, block } = place;
  const where = block === undefined ? section : `block ${block} of ${section}`;
  const corrupt = (what: string, cause?: unknown): CorruptError =>
    new CorruptError(`${where} of ${file} is damaged: ${what}; spanline graph salvage keeps the rest`, section, block, {
      cause,
    });
  if (stored.length !== form.storedLength) throw corrupt(`${stored.length} bytes instead of ${form.storedLength}`);
  // The cap comes first: a length that lies must not take memory.
  if (form.inflatedLength > maxBytes) {
    throw new LimitError(
      `${where} of ${file} says it has ${form.inflatedLength} bytes; the limit is ${maxBytes}: raise maxBlockBytes if you trust the file`,
    );
  }
  if (zlib.crc32(stored) !== form.crc) throw corrupt('its checksum is wrong');
  let bytes: Buffer;
  try {
    bytes = inflate(stored, form, place);
  } catch (cause) {
    if (cause instanceof UnsupportedVersionError) throw cause;
    throw corrupt('it cannot be inflated', cause);
  }
  if (bytes.length !== form.inflatedLength)
    throw corrupt(`${bytes.length} bytes inflated instead of ${form.inflatedLength}`);
  return bytes;
};
