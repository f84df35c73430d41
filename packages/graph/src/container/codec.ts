// How bytes are stored: as they are, deflated, or by zstd where the runtime has it; and an estimate of what they take compressed, by which choices
// are made. The estimate must be cheap and always the same, and may be wrong by a little. A declared length is a claim: nothing is inflated beyond
// it, and it is capped before memory is taken.
import * as zlib from 'node:zlib';
import { orThrow } from 'spanline/internal/base';
import { CorruptError, LimitError, UnsupportedVersionError } from './graph-error.js';

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

interface InflateOptions {
  readonly maxOutputLength: number;
  readonly chunkSize: number;
}

// Node 22.15 and later. The types of the oldest supported Node do not have it.
const zstd = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Uint8Array) => Buffer;
  readonly zstdDecompressSync?: (
    bytes: Uint8Array,
    options: InflateOptions & { readonly params: Readonly<Record<number, number>> },
  ) => Buffer;
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
};
/** A frame may ask for a window of 128 MiB; none of this format needs more than 8 MiB. */
const MAX_ZSTD_WINDOW_LOG = 23;

/** Whether this runtime can write and read zstd. */
export const hasZstd = (): boolean => zstd.zstdCompressSync !== undefined;

/** The smallest chunk that zlib takes. */
const MIN_CHUNK_BYTES = 64;

/** Zlib clears the memory it takes: for the blocks of a few hundred bytes that there are most of, that is half of its work. */
const roomFor = (length: number): zlib.ZlibOptions => {
  const bits = 32 - Math.clz32(length);
  return { level: 6, windowBits: Math.min(Math.max(bits, 9), 15), memLevel: Math.min(Math.max(bits - 5, 1), 8) };
};

const compress = (bytes: Buffer, compression: Compression): { readonly bytes: Buffer; readonly codec: number } => {
  if (compression === 'zstd' && zstd.zstdCompressSync !== undefined) {
    return { bytes: zstd.zstdCompressSync(bytes), codec: Codec.zstd };
  }
  // What does not fit into one chunk of the size of the input is not kept; the default chunk would leave 16 KiB of garbage a block.
  const chunkSize = Math.max(MIN_CHUNK_BYTES, bytes.length);
  return { bytes: zlib.deflateRawSync(bytes, { ...roomFor(bytes.length), chunkSize }), codec: Codec.deflate };
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

/** Deflate cannot shrink more than this, so a greater claim is a lie. */
const MAX_DEFLATE_RATIO = 1032;
/** A zstd block of 3 bytes may stand for 128 KiB; memory is taken as they come. */
const ZSTD_CHUNK_BYTES = 128 * 1024;

/** Small parts of a big read must not keep all of it in memory for as long as they are cached. */
const ownBytes = (bytes: Buffer): Buffer => (bytes.buffer.byteLength > 2 * bytes.length ? Buffer.from(bytes) : bytes);

/** One byte more than needed tells zlib that all fits into the first chunk, which is then exactly what is kept in memory. */
const inflateOptions = (inflatedLength: number, chunkBytes: number): InflateOptions => ({
  // Zero is not a limit to zlib.
  maxOutputLength: Math.max(1, inflatedLength),
  chunkSize: Math.max(64, Math.min(inflatedLength + 1, chunkBytes)),
});

const inflate = (bytes: Buffer, { codec, inflatedLength }: StoredForm, { file, section }: Place): Buffer => {
  switch (codec) {
    case Codec.stored:
      return ownBytes(bytes);
    case Codec.deflate:
      return zlib.inflateRawSync(bytes, inflateOptions(inflatedLength, MAX_DEFLATE_RATIO * bytes.length));
    case Codec.zstd:
      if (zstd.zstdDecompressSync !== undefined) {
        return zstd.zstdDecompressSync(bytes, {
          ...inflateOptions(inflatedLength, ZSTD_CHUNK_BYTES),
          params: { [zstd.constants.ZSTD_d_windowLogMax]: MAX_ZSTD_WINDOW_LOG },
        });
      }
      throw new UnsupportedVersionError(`${section} of ${file} is compressed by zstd, which needs Node 22.15 or later`);
    default:
      throw new UnsupportedVersionError(
        `${section} of ${file} has codec ${codec}; read it with a newer version of spanline`,
      );
  }
};

const whereOf = ({ section, block }: Place): string => (block === undefined ? section : `block ${block} of ${section}`);

/** Throws `LimitError` when stored bytes would take more than `maxBytes`, read or inflated; to be asked before they are read. */
export const checkForm = ({ storedLength, inflatedLength }: StoredForm, place: Place, maxBytes: number): void => {
  const bytes = Math.max(storedLength, inflatedLength);
  if (bytes <= maxBytes) return;
  throw new LimitError(
    `${whereOf(place)} of ${place.file} says it has ${bytes} bytes; the limit is ${maxBytes}: raise maxBlockBytes if you trust the file`,
  );
};

/** The bytes behind `stored`. Throws `CorruptError` when they are damaged, `LimitError` when they would take more than `maxBytes`. */
export const restore = (
  stored: Buffer,
  form: StoredForm,
  place: Place,
  maxBytes = DEFAULT_MAX_INFLATED_BYTES,
): Buffer => {
  const { file, section, block } = place;
  const corrupt = (what: string, cause?: unknown): CorruptError =>
    new CorruptError(
      `${whereOf(place)} of ${file} is damaged: ${what}; spanline graph salvage keeps the rest`,
      section,
      block,
      { cause },
    );
  // The cap comes first: a length that lies must not take memory.
  checkForm(form, place, maxBytes);
  if (stored.length !== form.storedLength) throw corrupt(`${stored.length} bytes instead of ${form.storedLength}`);
  if (zlib.crc32(stored) !== form.crc) throw corrupt('its checksum is wrong');
  const bytes = orThrow(
    () => inflate(stored, form, place),
    (cause) => (cause instanceof UnsupportedVersionError ? cause : corrupt('it cannot be inflated', cause)),
  );
  if (bytes.length !== form.inflatedLength)
    throw corrupt(`${bytes.length} bytes inflated instead of ${form.inflatedLength}`);
  return bytes;
};

/** What Huffman codes take besides the bits of the symbols. */
const CODE_TABLE_BYTES = 24;

/** Bytes whose symbols are that even will not shrink, whatever is tried. */
export const RANDOM_SHARE = 0.96;

/** `n` log2 `n`, for the counts that blocks have. */
const weights = Float64Array.from({ length: 4096 }, (_, n) => (n === 0 ? 0 : n * Math.log2(n)));

const weight = (n: number): number => (n < weights.length ? weights[n] : n * Math.log2(n));

const histogram = new Uint32Array(256);

/** Bytes that `bytes` take when each symbol costs what its share says; never more than they have. Repeated strings are not seen. */
export const entropyBytes = (bytes: Uint8Array): number => {
  histogram.fill(0);
  for (let i = 0; i < bytes.length; i++) histogram[bytes[i]]++;
  let bits = weight(bytes.length);
  for (let i = 0; i < 256; i++) bits -= weight(histogram[i]);
  return Math.min(bytes.length, bits / 8 + CODE_TABLE_BYTES);
};

/** Whether trying to compress `bytes`, in which nothing is expected to repeat, would be in vain: hashes, packed numbers. */
export const isRandom = (bytes: Uint8Array): boolean => entropyBytes(bytes) > bytes.length * RANDOM_SHARE;
