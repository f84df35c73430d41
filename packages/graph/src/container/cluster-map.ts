// Where the bytes of a clustered file lie. Such a file is another one, the logical file, in another order: what is read together lies together, in
// clusters, and some of it twice; behind it stands this map. Nobody may be given other bytes than the logical file has, so a map that is not whole
// is refused before anything is read by it.
//
//     file   = body map footer
//     body   = stretches of the logical file, one behind the other, in the order of the map: first those of each cluster, then those of none
//     map    = size:varint clusters:varint stretches:varint[clusters] others:varint gap:zigzag[n] length:varint[n]
//     gap    = where a stretch begins in the logical file, less the end of the stretch before
//     footer = mapLength:u32 mapCrc:u32 fileLength:u64 version:u16 zeros[2] crc:u32 "1TSLCLPS"
import { crc32 } from 'node:zlib';
import { ByteWriter, firstIndex } from 'spanline/internal/base';
import { CorruptError, TruncatedError, UnsupportedVersionError } from './graph-error.js';
import { sectionReader } from './layout.js';
import type { ByteRange, Tail } from './transport/transport.js';

const MAGIC = Buffer.from('1TSLCLPS', 'latin1');
const VERSION = 1;
const CHECKED_BYTES = 20;
export const CLUSTER_FOOTER_BYTES = 32;
/** `cluster` of a stretch that is in none. */
export const NO_CLUSTER = -1;
/** Places of a byte on average: far more than any writer needs. */
const MAX_COPIES = 16;
/** Stretches of a file at most, and more of one whose stretches have so many bytes on average: what a map takes in memory is bounded by the file. */
const MAX_SMALL_STRETCHES = 4096;
const MIN_STRETCH_BYTES = 256;

/** A copy of a stretch of the logical file. */
export interface Copy {
  readonly cluster: number;
  /** Byte of the file where it begins. */
  readonly at: number;
}

/** A stretch of the logical file that lies in one piece wherever it lies. */
export interface Piece {
  readonly length: number;
  readonly copies: readonly Copy[];
}

/** Where in the logical file a piece is, too. */
interface PlacedPiece extends Piece, ByteRange {}

interface Stretch extends ByteRange {
  readonly cluster: number;
  readonly at: number;
}

/** The file of `logical` in which the ranges of each cluster lie together, and `others` behind them. Together they have every byte. */
export const clusterFile = (
  logical: Uint8Array,
  clusters: readonly (readonly ByteRange[])[],
  others: readonly ByteRange[],
): Buffer => {
  const ranges = [...clusters.flat(), ...others];
  const writer = new ByteWriter();
  writer.varint(logical.length);
  writer.varint(clusters.length);
  for (const cluster of clusters) writer.varint(cluster.length);
  writer.varint(others.length);
  let end = 0;
  for (const { offset, length } of ranges) {
    writer.zigzag(offset - end);
    end = offset + length;
  }
  for (const { length } of ranges) writer.varint(length);
  const map = Buffer.from(writer.view());
  const bodyLength = ranges.reduce((sum, { length }) => sum + length, 0);
  const footer = Buffer.alloc(CLUSTER_FOOTER_BYTES);
  footer.writeUInt32LE(map.length, 0);
  footer.writeUInt32LE(crc32(map), 4);
  footer.writeBigUInt64LE(BigInt(bodyLength + map.length + CLUSTER_FOOTER_BYTES), 8);
  footer.writeUInt16LE(VERSION, 16);
  footer.writeUInt32LE(crc32(footer.subarray(0, CHECKED_BYTES)), CHECKED_BYTES);
  MAGIC.copy(footer, CHECKED_BYTES + 4);
  return Buffer.concat([...ranges.map(({ offset, length }) => logical.subarray(offset, offset + length)), map, footer]);
};

/** Whether the file that ends with these bytes is a clustered one. */
export const isClustered = (end: Buffer): boolean =>
  end.length >= CLUSTER_FOOTER_BYTES && end.subarray(end.length - MAGIC.length).equals(MAGIC);

/** Where the map of the clustered file with this end is, and what its checksum must be. */
export const mapPlace = ({ bytes, size }: Tail, name: string): ByteRange & { readonly crc: number } => {
  const footer = bytes.subarray(bytes.length - CLUSTER_FOOTER_BYTES);
  if (crc32(footer.subarray(0, CHECKED_BYTES)) !== footer.readUInt32LE(CHECKED_BYTES))
    throw new CorruptError(`the footer of ${name} is damaged`, 'clusterFooter');
  const version = footer.readUInt16LE(16);
  if (version !== VERSION)
    throw new UnsupportedVersionError(
      `${name} is clustered by version ${version}, this reader supports ${VERSION}; read it with a newer version of spanline`,
    );
  const fileLength = Number(footer.readBigUInt64LE(8));
  if (fileLength !== size)
    throw new TruncatedError(`${name} has ${size} bytes and says it has ${fileLength}`, fileLength, size);
  const length = footer.readUInt32LE(0);
  const offset = size - CLUSTER_FOOTER_BYTES - length;
  if (offset < 0) throw new CorruptError(`the footer of ${name} names an impossible map`, 'clusterFooter');
  return { offset, length, crc: footer.readUInt32LE(4) };
};

/** The map of a clustered file. */
export class ClusterMap {
  /** The pieces of the logical file, one behind the other. */
  readonly #pieces: readonly PlacedPiece[];

  private constructor(
    /** Bytes of the logical file. */
    readonly size: number,
    pieces: readonly PlacedPiece[],
  ) {
    this.#pieces = pieces;
  }

  /** The map in `bytes`, which lie at `offset` of the file. */
  static decode(bytes: Buffer, offset: number, crc: number, name: string): ClusterMap {
    if (crc32(bytes) !== crc) throw new CorruptError(`the map of ${name} is damaged`, 'clusterMap');
    const reader = sectionReader(bytes, `the map of ${name}`, 'clusterMap');
    const size = reader.varint();
    const clusters = reader.varint();
    if (clusters > reader.left) throw reader.corrupt('is too short for its clusters');
    const counts = Array.from({ length: clusters }, () => reader.varint());
    counts.push(reader.varint());
    const count = counts.reduce((sum, one) => sum + one, 0);
    // Each takes two bytes at least.
    if (2 * count > reader.left) throw reader.corrupt('is too short for its stretches');
    if (count > MAX_SMALL_STRETCHES + offset / MIN_STRETCH_BYTES)
      throw reader.corrupt('has more stretches than any writer makes');
    const gaps = Array.from({ length: count }, () => reader.zigzag());
    const lengths = Array.from({ length: count }, () => reader.varint());
    reader.end();
    const stretches: Stretch[] = [];
    let [at, end] = [0, 0];
    counts.forEach((ofCluster, cluster) => {
      for (let i = 0; i < ofCluster; i++) {
        const start = end + gaps[stretches.length];
        const length = lengths[stretches.length];
        end = start + length;
        if (length === 0 || start < 0 || end > size) throw reader.corrupt('has a stretch outside the file it is of');
        stretches.push({ offset: start, length, at, cluster: cluster === clusters ? NO_CLUSTER : cluster });
        at += length;
      }
    });
    if (at !== offset) throw reader.corrupt('has not the bytes before it');
    const map = ClusterMap.#of(size, stretches);
    if (map === undefined) throw reader.corrupt('does not say where each byte is');
    return map;
  }

  /** Undefined where a byte is in no stretch, or too many are in many. */
  static #of(size: number, stretches: readonly Stretch[]): ClusterMap | undefined {
    const bounds = new Set([0, size, ...stretches.flatMap(({ offset, length }) => [offset, offset + length])]);
    const starts = [...bounds].sort((a, b) => a - b);
    const ordered = [...stretches].sort((a, b) => a.offset - b.offset);
    const pieces: PlacedPiece[] = [];
    let open: Stretch[] = [];
    let [next, total] = [0, 0];
    for (let i = 0; i + 1 < starts.length; i++) {
      const start = starts[i];
      open = open.filter(({ offset, length }) => offset + length > start);
      for (; next < ordered.length && ordered[next].offset === start; next++) open.push(ordered[next]);
      total += open.length;
      if (open.length === 0 || total > MAX_COPIES * (stretches.length + 1)) return undefined;
      const copies = open.map(({ cluster, at, offset }) => ({ cluster, at: at + start - offset }));
      pieces.push({ offset: start, length: starts[i + 1] - start, copies });
    }
    return new ClusterMap(size, pieces);
  }

  /** The pieces of a range of the logical file, one behind the other. */
  pieces({ offset, length }: ByteRange): Piece[] {
    const pieces: Piece[] = [];
    const end = offset + length;
    for (let i = this.#pieceAt(offset), from = offset; from < end; i++) {
      const { offset: start, length: whole, copies } = this.#pieces[i];
      const to = Math.min(end, start + whole);
      const skipped = from - start;
      pieces.push({
        length: to - from,
        copies: skipped === 0 ? copies : copies.map(({ cluster, at }) => ({ cluster, at: at + skipped })),
      });
      from = to;
    }
    return pieces;
  }

  /** What lies in more than one place. */
  get doubled(): readonly PlacedPiece[] {
    return this.#pieces.filter(({ copies }) => copies.length > 1);
  }

  /** Where the end of the logical file begins that lies whole behind byte `from` of the file. */
  endBehind(from: number): number {
    let i = this.#pieces.length;
    while (i > 0 && this.#pieces[i - 1].copies.some(({ at }) => at >= from)) i--;
    return this.#pieces[i]?.offset ?? this.size;
  }

  #pieceAt(offset: number): number {
    return firstIndex(1, this.#pieces.length, (i) => this.#pieces[i].offset > offset) - 1;
  }
}
