// Cards of some segments as one object that never changes: what is text compressed together, filters and short heads behind it as they are. A pack that is
// damaged must be reported, never be read as one with other cards, for a filter that lies hides traces.
//
//     pack  = "SPLNCRD1" length:u32 text blobs
//     text  = gzip of { digest, cards: [...] } as JSON; the digest is of the blobs
//     blobs = of each card its filter and its head, deflated, as far as it has them
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { parseSegmentName } from '../directory.js';
import type { SegmentOperation } from '../segment/segment-summary.js';
import { KINDS } from '../values/fields.js';
import { bucketError } from './bucket-error.js';
import type { BucketCard } from './card.js';
import { TraceFilter } from './trace-filter.js';

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
  /** Of the head as it is stored; 0 where there is none. */
  readonly headStored: number;
}

interface PackText {
  readonly digest: string;
  readonly cards: readonly CardText[];
}

const zip = promisify(gzip);
const unzip = promisify(gunzip);

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32);

const textOf = (card: BucketCard, filterBytes: number): CardText => ({
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
  headStored: card.head?.length ?? 0,
});

/** The object of some cards. */
export const encodePack = async (cards: readonly BucketCard[]): Promise<Buffer> => {
  const filters = cards.map(({ filter }) => filter?.encode() ?? Buffer.alloc(0));
  const blobs = Buffer.concat(cards.flatMap(({ head }, i) => (head === undefined ? [filters[i]] : [filters[i], head])));
  const text: PackText = {
    digest: digestOf(blobs),
    cards: cards.map((card, i) => textOf(card, filters[i].length)),
  };
  const zipped = await zip(JSON.stringify(text));
  const start = Buffer.alloc(START);
  start.write(MAGIC, 'latin1');
  start.writeUInt32LE(zipped.length, MAGIC.length);
  return Buffer.concat([start, zipped, blobs]);
};

/** The cards of an object; `file` is for messages. */
export const decodePack = async (bytes: Buffer, file: string): Promise<BucketCard[]> => {
  try {
    if (bytes.length < START || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) throw new Error('it is none');
    const blobsAt = START + bytes.readUInt32LE(MAGIC.length);
    if (blobsAt > bytes.length) throw new Error('it is too short');
    const text = JSON.parse((await unzip(bytes.subarray(START, blobsAt))).toString()) as PackText;
    const blobs = bytes.subarray(blobsAt);
    if (digestOf(blobs) !== text.digest) throw new Error('its filters are not what was written');
    let at = 0;
    const take = (length: number): Buffer => {
      at += length;
      return blobs.subarray(at - length, at);
    };
    return text.cards.map((card) => cardOf(card, take, file));
  } catch (cause) {
    throw bucketError('DAMAGED', `${file} is not a pack of cards: ${(cause as Error).message}`, { cause });
  }
};

const operationOf = ([name, kind]: readonly [string, number]): SegmentOperation => ({ name, kind: KINDS[kind] });

const cardOf = (text: CardText, take: (length: number) => Buffer, file: string): BucketCard => {
  const { name, key, etag, uploadedMs, headBytes, headStored } = text;
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
    head: headStored > 0 ? take(headStored) : undefined,
  };
};
