// Cards of some segments as one object that never changes: what is text compressed together, filters and short heads behind it as they are; and longer heads
// as another object. A pack that is damaged must be reported, never be read as one with other cards, for a filter that lies hides traces.
//
//     pack  = "SPLNCRD1" length:u32 text blobs
//     text  = gzip of { digest, cards: [...] } as JSON; the digest is of the blobs
//     blobs = of each card its filter and its head, as far as they are in it
//     heads = the other heads, one behind the other
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { parseSegmentName } from '../directory.js';
import type { SegmentOperation } from '../segment/segment-summary.js';
import { KINDS } from '../values/fields.js';
import { bucketError } from './bucket-error.js';
import type { BucketCard } from './card.js';
import type { HeadPlace } from './heads.js';
import { TraceFilter } from './trace-filter.js';
import { unzipText, zipText } from './zipped-text.js';

const MAGIC = 'SPLNCRD1';
const START = MAGIC.length + 4;

/** A card as JSON. */
interface CardText {
  readonly name: string;
  readonly key: string;
  readonly etag: string;
  readonly bytes: number;
  readonly uploadedMs: readonly [number, number];
  readonly spans: number;
  readonly traces: number;
  readonly startUnixNs: string;
  readonly endUnixNs: string;
  readonly doubles: number;
  readonly listsAll: boolean;
  /** Names of services, each with names and kinds of its operations. */
  readonly services: readonly (readonly [string, readonly (readonly [name: string, kind: number])[]])[];
  readonly replaces: readonly string[];
  readonly filterBytes: number;
  readonly headBytes: number;
  /** Where its head is, beside the segment. */
  readonly head: 'card' | 'heads' | 'none';
  /** CRC-32 of a head among the heads; else 0. */
  readonly headCrc: number;
}

interface PackText {
  readonly digest: string;
  readonly cards: readonly CardText[];
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32);

const textOf = (card: BucketCard, filterBytes: number, head: CardText['head']): CardText => ({
  name: card.name,
  key: card.key,
  etag: card.etag,
  bytes: card.info.bytes,
  uploadedMs: card.uploadedMs,
  spans: card.info.spanCount,
  traces: card.info.traceCount,
  startUnixNs: String(card.info.startUnixNs),
  endUnixNs: String(card.info.endUnixNs),
  doubles: card.info.doubles,
  listsAll: card.info.listsAllOperations,
  services: [...card.info.operations].map(([service, operations]) => [
    service,
    operations.map(({ name, kind }) => [name, KINDS.indexOf(kind)]),
  ]),
  replaces: card.info.replaces,
  filterBytes,
  headBytes: card.headBytes,
  head,
  headCrc: head === 'heads' && card.head !== undefined ? crc32(card.head) : 0,
});

/** Heads of so many bytes at most are in cards: all cards are read by whoever asks for anything. */
const INLINE_HEAD_BYTES = 8 * 1024;

/** Cards as objects. */
interface EncodedPack {
  readonly pack: Buffer;
  /** Empty where no card needs it. */
  readonly heads: Buffer;
}

/** The objects of some cards; heads of more than `inlineBytes` are in the second one. */
export const encodePack = async (
  cards: readonly BucketCard[],
  inlineBytes = INLINE_HEAD_BYTES,
): Promise<EncodedPack> => {
  const filters = cards.map(({ filter }) => filter?.encode() ?? Buffer.alloc(0));
  const places = cards.map(({ head }) => (head === undefined ? 'none' : head.length <= inlineBytes ? 'card' : 'heads'));
  const headsOf = (place: CardText['head']): readonly Buffer[][] =>
    cards.map(({ head }, i) => (head !== undefined && places[i] === place ? [head] : []));
  const blobs = Buffer.concat(headsOf('card').flatMap((head, i) => [filters[i], ...head]));
  const text: PackText = {
    digest: digestOf(blobs),
    cards: cards.map((card, i) => textOf(card, filters[i].length, places[i])),
  };
  const zipped = await zipText(JSON.stringify(text));
  const start = Buffer.alloc(START);
  start.write(MAGIC, 'latin1');
  start.writeUInt32LE(zipped.length, MAGIC.length);
  return { pack: Buffer.concat([start, zipped, blobs]), heads: Buffer.concat(headsOf('heads').flat()) };
};

/** The cards of an object, whose other heads are in the object `headsKey`; `file` is for messages. */
export const decodePack = async (bytes: Buffer, file: string, headsKey: string): Promise<BucketCard[]> => {
  try {
    if (bytes.length < START || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('it is none');
    const blobsAt = START + bytes.readUInt32LE(MAGIC.length);
    if (blobsAt > bytes.length) throw new Error('it is too short');
    const text = JSON.parse(await unzipText(bytes.subarray(START, blobsAt))) as PackText;
    const blobs = bytes.subarray(blobsAt);
    if (digestOf(blobs) !== text.digest) throw new Error('its filters are not what was written');
    let at = 0;
    const take = (length: number): Buffer => {
      at += length;
      return blobs.subarray(at - length, at);
    };
    const placed = placesIn(text, headsKey);
    return text.cards.map((card) => cardOf(card, take, placed, file));
  } catch (cause) {
    throw bucketError('DAMAGED', `${file} is not a pack of cards: ${(cause as Error).message}`, { cause });
  }
};

/** Gives the place of the head of one card after the other. */
const placesIn = ({ cards }: PackText, key: string): ((text: CardText) => HeadPlace | undefined) => {
  const objectBytes = cards.reduce((sum, { head, headBytes }) => sum + (head === 'heads' ? headBytes : 0), 0);
  let offset = 0;
  return ({ head, headBytes: length, headCrc: crc }) => {
    if (head !== 'heads') return undefined;
    offset += length;
    return { key, objectBytes, offset: offset - length, length, crc };
  };
};

const operationOf = ([name, kind]: readonly [string, number]): SegmentOperation => ({ name, kind: KINDS[kind] });

const cardOf = (
  text: CardText,
  take: (length: number) => Buffer,
  placed: (text: CardText) => HeadPlace | undefined,
  file: string,
): BucketCard => {
  const { name, key, etag, uploadedMs, headBytes } = text;
  const parsed = parseSegmentName(name);
  if (parsed === undefined) throw new Error(`${name} is not the name of a segment`);
  const filter = text.filterBytes === 0 ? undefined : TraceFilter.decode(take(text.filterBytes), file);
  return {
    name,
    key,
    etag,
    isSorted: parsed.isSorted,
    uploadedMs,
    info: {
      spanCount: text.spans,
      traceCount: text.traces,
      startUnixNs: BigInt(text.startUnixNs),
      endUnixNs: BigInt(text.endUnixNs),
      services: text.services.map(([service]) => service),
      operations: new Map(text.services.map(([service, list]) => [service, list.map(operationOf)])),
      listsAllOperations: text.listsAll,
      doubles: text.doubles,
      replaces: text.replaces,
      bytes: text.bytes,
    },
    filter,
    headBytes,
    head: text.head === 'card' ? take(headBytes) : undefined,
    headIn: placed(text),
  };
};
