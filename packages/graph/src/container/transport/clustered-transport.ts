// Reads a clustered file as the logical one that it is of. What is asked for at the same time is fetched together, each byte from where it lies nearest to the
// rest: then all that is wanted of one cluster takes one request of a transport that takes neighbours together.

import { ClusterMap, mapPlace, NO_CLUSTER, type Piece } from '../cluster-map.js';
import { BadOptionsError } from '../graph-error.js';
import {
  type ByteRange,
  checkRanges,
  checkSignal,
  type SyncTransport,
  type Tail,
  type Transport,
  type TransportReadOptions,
  type TransportStats,
  tailRange,
} from './transport.js';

/** Where each of some pieces is read. */
const placesOf = (pieces: readonly Piece[]): ByteRange[] => {
  const touched = new Set<number>();
  for (const { copies } of pieces) if (copies.length === 1) touched.add(copies[0].cluster);
  touched.delete(NO_CLUSTER);
  return pieces.map(({ copies, length }) => {
    const copy =
      copies.find(({ cluster }) => touched.has(cluster)) ??
      copies.find(({ cluster }) => cluster === NO_CLUSTER) ??
      copies[0];
    if (copy.cluster !== NO_CLUSTER) touched.add(copy.cluster);
    return { offset: copy.at, length };
  });
};

const joined = (parts: readonly Buffer[]): Buffer => (parts.length === 1 ? parts[0] : Buffer.concat(parts));

/** Pieces that are fetched together. */
interface Round {
  readonly pieces: Piece[];
  askers: number;
  readonly fetched: Promise<ReadonlyMap<Piece, Buffer>>;
}

export class ClusteredTransport implements SyncTransport {
  readonly #inner: Transport;
  /** The end of the file, which is in memory. */
  readonly #end: Tail;
  readonly #map: ClusterMap;
  /** What is about to be fetched, by the signal of those who ask. */
  readonly #rounds = new Map<AbortSignal | undefined, Round>();

  /** `end` is that of the file behind `inner`, and `before` what is missing of the map in it. */
  constructor(inner: Transport, end: Tail, before: Buffer | undefined) {
    this.#inner = inner;
    this.#end =
      before === undefined
        ? end
        : { ...end, bytes: Buffer.concat([before, end.bytes]), offset: end.offset - before.length };
    const { offset, length, crc } = mapPlace(this.#end, inner.name);
    const start = offset - this.#end.offset;
    this.#map = ClusterMap.decode(this.#end.bytes.subarray(start, start + length), offset, crc, inner.name);
  }

  /** What of the map is not in the end of a clustered file. */
  static missing(end: Tail, name: string): ByteRange | undefined {
    const { offset } = mapPlace(end, name);
    return offset >= end.offset ? undefined : { offset, length: end.offset - offset };
  }

  get name(): string {
    return this.#inner.name;
  }

  /** The end of the logical file, as far as nothing has to be read for it. */
  get end(): Tail {
    const { size } = this.#map;
    const offset = this.#map.endBehind(this.#end.offset);
    const pieces = this.#map.pieces({ offset, length: size - offset });
    return { bytes: Buffer.concat(pieces.flatMap((piece) => this.#atHand(piece) ?? [])), offset, size };
  }

  async readRanges(ranges: readonly ByteRange[], options?: TransportReadOptions): Promise<Buffer[]> {
    checkSignal(this.name, options);
    const pieces = this.#pieces(ranges);
    const missing = this.#missing(pieces);
    const fetched = missing.length === 0 ? new Map() : await this.#fetch(missing, options);
    return this.#assembled(pieces, fetched);
  }

  readRangesSync(ranges: readonly ByteRange[]): Buffer[] {
    const pieces = this.#pieces(ranges);
    const missing = this.#missing(pieces);
    const read = missing.length === 0 ? [] : this.#sync.readRangesSync(placesOf(missing));
    return this.#assembled(pieces, new Map(missing.map((piece, i) => [piece, read[i]])));
  }

  async readTail(length: number, options?: TransportReadOptions): Promise<Tail> {
    const range = tailRange(length, this.#map.size, this.name);
    const [bytes] = await this.readRanges([range], options);
    return { bytes, offset: range.offset, size: this.#map.size };
  }

  /** Ranges of the logical file whose copies are not the same: of one only the copy that is read is checked. */
  differingSync(): ByteRange[] {
    const doubled = this.#map.doubled;
    const places = doubled.flatMap(({ copies, length }) => copies.map(({ at }) => ({ offset: at, length })));
    const read = this.#sync.readRangesSync(places);
    let next = 0;
    return doubled.filter(({ copies }) => {
      const [first, ...others] = read.slice(next, next + copies.length);
      next += copies.length;
      return others.some((other) => !other.equals(first));
    });
  }

  readTailSync(length: number): Tail {
    const range = tailRange(length, this.#map.size, this.name);
    const [bytes] = this.readRangesSync([range]);
    return { bytes, offset: range.offset, size: this.#map.size };
  }

  stats(): TransportStats {
    return this.#inner.stats();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  get #sync(): SyncTransport {
    if ('readRangesSync' in this.#inner) return this.#inner as SyncTransport;
    throw new BadOptionsError(`${this.name} can only be waited for`);
  }

  #pieces(ranges: readonly ByteRange[]): Piece[][] {
    checkRanges(ranges, this.#map.size, this.name);
    return ranges.map((range) => this.#map.pieces(range));
  }

  #missing(pieces: readonly (readonly Piece[])[]): Piece[] {
    return pieces.flat().filter((piece) => this.#atHand(piece) === undefined);
  }

  #assembled(pieces: readonly (readonly Piece[])[], fetched: ReadonlyMap<Piece, Buffer>): Buffer[] {
    return pieces.map((own) => joined(own.map((piece) => (this.#atHand(piece) ?? fetched.get(piece)) as Buffer)));
  }

  #atHand({ copies, length }: Piece): Buffer | undefined {
    const { bytes, offset } = this.#end;
    const copy = copies.find(({ at }) => at >= offset);
    return copy === undefined ? undefined : bytes.subarray(copy.at - offset, copy.at - offset + length);
  }

  /**
   * Fetch pieces, together with all that is asked for before the work that goes on now is done. Where that fails, those who asked for it are each given
   * their own: what one of them cannot have must not be missing to the others.
   */
  async #fetch(pieces: readonly Piece[], options?: TransportReadOptions): Promise<ReadonlyMap<Piece, Buffer>> {
    const signal = options?.signal;
    let round = this.#rounds.get(signal);
    if (round === undefined) {
      const all: Piece[] = [];
      const fetched = Promise.resolve().then(() => {
        this.#rounds.delete(signal);
        return this.#read(all, options);
      });
      round = { pieces: all, askers: 0, fetched };
      this.#rounds.set(signal, round);
    }
    round.pieces.push(...pieces);
    round.askers++;
    try {
      return await round.fetched;
    } catch (error) {
      if (round.askers === 1) throw error;
      return this.#read(pieces, options);
    }
  }

  async #read(pieces: readonly Piece[], options?: TransportReadOptions): Promise<ReadonlyMap<Piece, Buffer>> {
    const read = await this.#inner.readRanges(placesOf(pieces), options);
    return new Map(pieces.map((piece, i) => [piece, read[i]]));
  }
}
