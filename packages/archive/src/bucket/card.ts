// What the catalogue says of one segment: where it is, what a search needs to pass it over, and what opening reads, or where that lies. A card is made by
// opening the segment once, through a transport that remembers how far from its end was read. It must never say of a trace that it is not there when
// it is, and never be of another object than the one it names.
import type { BlockCache, Tail, Transport, TransportReadOptions, TransportStats } from '@spanline/graph';
import { Segment } from '../segment/segment.js';
import type { SegmentInfo } from '../segment/write-segment.js';
import { lastWordOf } from '../values/fields.js';
import type { HeadPlace, Heads } from './heads.js';
import type { ObjectStore, ObjectVersion } from './object-store.js';
import { TraceFilter } from './trace-filter.js';

/** What is known of a segment in a bucket. */
export interface BucketCard {
  /** Of the segment; no two of an archive have the same. */
  readonly name: string;
  readonly key: string;
  readonly etag: string;
  readonly isSorted: boolean;
  readonly info: SegmentInfo;
  /** Unix milliseconds by the store's clock when the first and the last part of it were uploaded. */
  readonly uploadedMs: readonly [first: number, last: number];
  /** Undefined: any trace may be there. */
  readonly filter: TraceFilter | undefined;
  /** Bytes at the end of the object that opening reads. */
  readonly headBytes: number;
  /** Those bytes, where they are at hand. */
  readonly head: Buffer | undefined;
  /** Where they are, too, unless they are in the card or too many. */
  readonly headIn: HeadPlace | undefined;
}

/** Heads of so many bytes at most are kept beside their segments. */
export const MAX_HEAD_BYTES = 64 * 1024;
/** The first read of the tail: what opening needs of it is read once more, of what is in memory, to be remembered exactly. */
const TAIL_BYTES = 2048;
/** Bytes fetched at first when nothing is known of an object: most segments are opened by these. */
const GUESSED_HEAD_BYTES = 128 * 1024;

type ByteRanges = Parameters<Transport['readRanges']>[0];

/** Gives what of an object is in memory, its end, and asks for the rest; remembers how far from the end was read. */
class HeadTransport implements Transport {
  readonly #inner: Transport;
  readonly #end: Tail;
  /** The lowest byte that was read. */
  lowest: number;

  constructor(inner: Transport, end: Tail) {
    this.#inner = inner;
    this.#end = end;
    this.lowest = end.size;
  }

  get name(): string {
    return this.#inner.name;
  }

  async readTail(length: number, options?: TransportReadOptions): Promise<Tail> {
    const { size } = this.#end;
    const offset = Math.max(0, size - length);
    const [bytes] = await this.readRanges([{ offset, length: size - offset }], options);
    return { bytes, offset, size };
  }

  async readRanges(ranges: ByteRanges, options?: TransportReadOptions): Promise<Buffer[]> {
    const { bytes, offset: start } = this.#end;
    for (const { offset, length } of ranges) if (length > 0) this.lowest = Math.min(this.lowest, offset);
    const isHere = ({ offset, length }: ByteRanges[number]): boolean =>
      length === 0 || (offset >= start && offset + length <= this.#end.size);
    const missing = ranges.filter((range) => !isHere(range));
    const read = missing.length === 0 ? [] : await this.#inner.readRanges(missing, options);
    let next = 0;
    return ranges.map((range) =>
      isHere(range)
        ? bytes.subarray(Math.max(0, range.offset - start), Math.max(0, range.offset - start) + range.length)
        : read[next++],
    );
  }

  stats(): TransportStats {
    return this.#inner.stats();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

/** A segment and its card. */
export interface OpenedCard {
  readonly card: BucketCard;
  readonly segment: Segment;
}

/** What is asked for a card. */
export interface CardOptions {
  readonly cache?: BlockCache | undefined;
  readonly signal?: AbortSignal | undefined;
  /** List the traces for a filter of the card's own, for which all keys of a sorted segment are read. Default false. */
  readonly withFilter?: boolean | undefined;
  /** Keep what opening reads, however much it is. Default false. */
  readonly withHead?: boolean | undefined;
}

/** An object that is a segment. */
export interface SegmentObject extends ObjectVersion {
  readonly name: string;
  readonly key: string;
  readonly uploadedMs: readonly [first: number, last: number];
}

/** Open a segment of which nothing is known but where it is: what lies at its end costs one request. */
const openByEnd = async (
  transport: Transport,
  { cache, signal }: CardOptions,
  withoutFilter: boolean,
): Promise<{ readonly segment: Segment; readonly remembering: HeadTransport; readonly size: number }> => {
  const end = await transport.readTail(GUESSED_HEAD_BYTES, { signal });
  const remembering = new HeadTransport(transport, end);
  const segment = await Segment.open(remembering, { signal, cache, tailBytes: TAIL_BYTES, withoutFilter });
  return { segment, remembering, size: end.size };
};

/** Open an object that is a segment and has no card. */
export const openObject = async (
  store: ObjectStore,
  key: string,
  version: ObjectVersion | undefined,
  cache: BlockCache,
): Promise<Segment> => (await openByEnd(store.transport(key, version), { cache }, false)).segment;

/** Open the segment behind `transport`, which is that object, and make its card. Rejects with a `GraphError` when that is none. */
export const openForCard = async (
  object: SegmentObject,
  transport: Transport,
  { cache, signal, withFilter = false, withHead = false }: CardOptions = {},
): Promise<OpenedCard> => {
  const { segment, remembering, size } = await openByEnd(transport, { cache, signal }, true);
  try {
    const headBytes = size - remembering.lowest;
    const [head] = await remembering.readRanges([{ offset: remembering.lowest, length: headBytes }], { signal });
    const card: BucketCard = {
      name: object.name,
      key: object.key,
      etag: object.etag,
      isSorted: segment.isSorted,
      info: segment.info,
      uploadedMs: object.uploadedMs,
      filter: withFilter ? await filterOf(segment, signal) : undefined,
      headBytes,
      head: withHead || headBytes <= MAX_HEAD_BYTES ? Buffer.from(head) : undefined,
      headIn: undefined,
    };
    return { card, segment };
  } catch (error) {
    await segment.close();
    throw error;
  }
};

/** Make the card of an object, with a filter. */
export const makeCard = async (
  store: ObjectStore,
  object: SegmentObject,
  options: CardOptions = {},
): Promise<BucketCard> => {
  const { card, segment } = await openForCard(object, store.transport(object.key, object), {
    withFilter: true,
    ...options,
  });
  await segment.close();
  return card;
};

const filterOf = async (segment: Segment, signal: AbortSignal | undefined): Promise<TraceFilter | undefined> => {
  if (!segment.isSorted) return TraceFilter.of(segment.traceWords());
  const words = new Set<number>();
  for await (const ids of segment.traceIds({}, { signal })) for (const id of ids) words.add(lastWordOf(id));
  return TraceFilter.of(words);
};

/** Keeps what opening reads, by the name of a segment. */
export interface HeadCache {
  read(key: string): Promise<Buffer | undefined>;
  write(key: string, bytes: Uint8Array): Promise<void>;
}

/** The name under which a cache has the head of a segment. */
export const headKept = (name: string): string => `heads/${name}`;

/** Where heads may be that are not in their card. */
interface OpenOptions {
  readonly cache?: BlockCache | undefined;
  readonly heads?: Heads | undefined;
  readonly kept?: HeadCache | undefined;
}

/** Open the segment of a card: for no request where its head is in the card, in `heads` or `kept`, for one else. */
export const openFromCard = async (
  store: ObjectStore,
  card: BucketCard,
  { cache, heads, kept }: OpenOptions = {},
): Promise<Segment> => {
  const { key, etag, info, headBytes } = card;
  const size = info.bytes;
  const transport = store.transport(key, { size, etag });
  const head = card.head ?? (card.headIn && (await heads?.get(card.headIn))) ?? (await kept?.read(headKept(card.name)));
  let bytes = head?.length === headBytes ? head : undefined;
  if (bytes === undefined) {
    const tail = await transport.readTail(headBytes);
    bytes = tail.bytes;
    await kept?.write(headKept(card.name), bytes);
  }
  const end = { bytes, offset: size - headBytes, size };
  return Segment.open(new HeadTransport(transport, end), { cache, tailBytes: TAIL_BYTES, withoutFilter: true });
};
