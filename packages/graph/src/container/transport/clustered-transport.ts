// Reads a clustered file as the logical one that it is of. What is asked for at the same time is fetched together, each byte from where it lies nearest to the
// rest: then all that is wanted of one cluster takes one request of a transport that takes neighbours together.

import { ClusterMap, mapPlace, NO_CLUSTER, type Piece } from '../cluster-map.js';
import { BadOptionsError, isDamage } from '../graph-error.js';
import {
  type ByteRange,
  beforeTail,
  checkRanges,
  checkSignal,
  longerTail,
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

/** Bytes of copies compared at a time. */
const COMPARED_BYTES = 1024 * 1024;
/** Ways to read what has copies that differ, of one action: more are damaged beyond what copies are for. */
const MAX_WAYS = 16;

/** Pieces that are fetched together. */
interface Round {
  readonly pieces: Piece[];
  askers: number;
  readonly fetched: Promise<ReadonlyMap<Piece, Buffer>>;
}

/** One way to read what lies in more than one place. */
interface Way {
  /** By where its first copy is, which copy of a piece is read; of others any. */
  readonly chosen: ReadonlyMap<number, number>;
  /** What was read of it, by where its first copy is. */
  readonly touched: Map<number, Piece>;
}

/** A piece as it is read one way, where that is noted. */
const pieceBy = ({ chosen, touched }: Way, piece: Piece): Piece => {
  const { copies, length } = piece;
  const [{ at }] = copies;
  const choice = chosen.get(at);
  if (copies.length > 1) touched.set(at, piece);
  return choice === undefined ? piece : { length, copies: [copies[choice]] };
};

/** The ways to read some pieces: the same copy of all of them at first, then of each another one. */
function* waysOf(pieces: readonly Piece[]): Generator<Way['chosen']> {
  if (pieces.length === 0) return;
  const numbers = pieces.map(({ copies }) => copies.length);
  for (let copy = 0; copy < Math.min(MAX_WAYS, ...numbers); copy++)
    yield new Map(pieces.map(({ copies }) => [copies[0].at, copy]));
  const ways = numbers.reduce((product, number) => Math.min(MAX_WAYS, product * number), pieces.length > 1 ? 1 : 0);
  for (let way = 0; way < ways; way++) {
    let rest = way;
    yield new Map(
      pieces.map(({ copies }) => {
        const choice = rest % copies.length;
        rest = Math.floor(rest / copies.length);
        return [copies[0].at, choice];
      }),
    );
  }
}

export class ClusteredTransport implements SyncTransport {
  readonly #inner: Transport;
  /** The end of the file, which is in memory. */
  readonly #end: Tail;
  readonly #map: ClusterMap;
  /** What is about to be fetched, by the signal of those who ask. */
  readonly #rounds = new Map<AbortSignal | undefined, Round>();
  /** Of the action that looks for copies that are whole. */
  #way: Way | undefined;

  /** `end` is that of the file behind `inner`, and `before` what is missing of the map in it. */
  constructor(inner: Transport, end: Tail, before: Buffer | undefined) {
    this.#inner = inner;
    this.#end = longerTail(end, before);
    const { offset, length, crc } = mapPlace(this.#end, inner.name);
    const start = offset - this.#end.offset;
    this.#map = ClusterMap.decode(this.#end.bytes.subarray(start, start + length), offset, crc, inner.name);
  }

  /** What of the map is not in the end of a clustered file. */
  static missing(end: Tail, name: string): ByteRange | undefined {
    return beforeTail(end, mapPlace(end, name).offset);
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
    const way = this.#way;
    const all = this.#pieces(ranges);
    const pieces = way === undefined ? all : all.map((own) => own.map((piece) => pieceBy(way, piece)));
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
    return this.#map.doubled
      .filter((piece) => this.#differsSync(piece))
      .map(({ offset, length }) => ({ offset, length }));
  }

  /**
   * What `action` makes of what it reads at once; where that is damaged, with other copies of what lies in more than one place. Throws the first
   * damage where no copies give anything.
   */
  byAnyCopySync<T>(action: () => T): T {
    const touched = new Map<number, Piece>();
    try {
      return this.#bySync({ chosen: new Map(), touched }, action);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const differing: Piece[] = [];
      const looked = new Set<number>();
      // Whoever can read what was damaged may read on, and meet more.
      for (let before = -1; differing.length > before; ) {
        before = differing.length;
        for (const chosen of waysOf(differing)) {
          try {
            return this.#bySync({ chosen, touched }, action);
          } catch (other) {
            if (!isDamage(other)) throw other;
          }
        }
        for (const [at, piece] of touched) {
          if (!looked.has(at) && this.#differsSync(piece)) differing.push(piece);
          looked.add(at);
        }
      }
      throw error;
    }
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

  /** Each copy: it does not matter here which was read. */
  forget(range: ByteRange): void {
    for (const { copies, length } of this.#map.pieces(range))
      for (const { at } of copies) this.#inner.forget?.({ offset: at, length });
  }

  get #sync(): SyncTransport {
    if ('readRangesSync' in this.#inner) return this.#inner as SyncTransport;
    throw new BadOptionsError(`${this.name} can only be waited for`);
  }

  #pieces(ranges: readonly ByteRange[]): Piece[][] {
    checkRanges(ranges, this.#map.size, this.name);
    return ranges.map((range) => this.#map.pieces(range));
  }

  #bySync<T>(way: Way, action: () => T): T {
    const before = this.#way;
    this.#way = way;
    try {
      return action();
    } finally {
      this.#way = before;
    }
  }

  /** Whether not all copies are the same, or one cannot be read. */
  #differsSync({ copies: [first, ...others], length }: Piece): boolean {
    const areSame = (at: number): boolean => {
      for (let from = 0; from < length; from += COMPARED_BYTES) {
        const part = Math.min(COMPARED_BYTES, length - from);
        const places = [first.at, at].map((start) => ({ offset: start + from, length: part }));
        const [one, other] = this.#sync.readRangesSync(places);
        if (!one.equals(other)) return false;
      }
      return true;
    };
    try {
      return !others.every(({ at }) => areSame(at));
    } catch (error) {
      if (isDamage(error)) return true;
      throw error;
    }
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
