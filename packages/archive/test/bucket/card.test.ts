// A card says of a segment what opening it says, never denies a trace that is there, and opens it for no request when it is small.
import { expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { BufferTransport } from '../../../graph/src/container/transport/file-transport.js';
import { type BucketCard, makeCard, openFromCard } from '../../src/bucket/card.js';
import { decodePack, encodePack } from '../../src/bucket/card-pack.js';
import { TraceFilter } from '../../src/bucket/trace-filter.js';
import { newId, segmentName } from '../../src/directory.js';
import { Segment } from '../../src/segment/segment.js';
import { traceIdBytes } from '../../src/values/fields.js';
import { byId, segmentBytes, tracesOf } from '../segment/support/segments.js';
import { seededRandom, syntheticSpans } from '../segment/support/synthetic-spans.js';
import { unsortedBytes } from '../segment/support/unsorted-bytes.js';
import { MemoryStore } from './support/memory-store.js';

const spansOf = (traces: number) => syntheticSpans({ traces, spansPerTrace: 5, seed: traces });

/** A store with one segment, and its card. */
const stored = async (bytes: Buffer, isSorted = true): Promise<{ store: MemoryStore; card: BucketCard }> => {
  const store = new MemoryStore();
  const name = segmentName(1n, 2n, newId(), isSorted);
  const key = `segments/${name}`;
  const { etag = '' } = (await store.put(key, bytes)) ?? {};
  const object = { name, key, etag, size: bytes.length, uploadedMs: [3, 4] as const };
  return { store, card: await makeCard(store, object) };
};

test.each([
  ['sorted', true],
  ['unsorted', false],
])('the card of a segment that is %s says what the segment says', async (_, isSorted) => {
  const spans = spansOf(60);
  const bytes = isSorted ? segmentBytes(spans) : await unsortedBytes(spans, 20);
  const { store, card } = await stored(bytes, isSorted);
  const direct = await Segment.open(bytes);
  expect(card).toMatchObject({ isSorted, uploadedMs: [3, 4], info: direct.info });
  for (const id of tracesOf(spans).keys()) expect(card.filter?.mayHave(traceIdBytes(id))).toBe(true);

  // From what a pack has kept of it.
  const [kept] = await decodePack((await encodePack([card])).pack, 'x', '');
  expect(kept).toEqual(card);
  expect(kept.head?.length).toBe(kept.headBytes);
  const transport = new BufferTransport(bytes);
  store.transport = () => transport;
  const segment = await openFromCard(store, kept);
  expect(transport.stats().requests).toBe(0);
  expect(segment.info).toEqual(direct.info);
  for (const [id, trace] of tracesOf(spans))
    expect(byId((await segment.traces([id])).get(id) ?? [])).toEqual(byId(trace));
  expect(transport.stats().requests).toBeGreaterThan(0);
});

test('what opening a large segment reads is fetched at once, and kept where there is a place for it', async () => {
  const bytes = await unsortedBytes(spansOf(20_000), 5);
  const { store, card } = await stored(bytes, false);
  expect(card.head).toBeUndefined();
  expect(card.headBytes).toBeGreaterThan(64 * 1024);
  const transport = new BufferTransport(bytes);
  store.transport = () => transport;
  const files = new Map<string, Buffer>();
  const kept = {
    read: async (key: string) => files.get(key),
    write: async (key: string, head: Uint8Array) => void files.set(key, Buffer.from(head)),
  };
  await openFromCard(store, card, { kept });
  expect(transport.stats()).toMatchObject({ requests: 1, bytes: card.headBytes });
  await openFromCard(store, card, { kept });
  expect(transport.stats().requests).toBe(1);
  // What was kept and is something else is not used.
  files.set(`heads/${card.name}`, Buffer.alloc(5));
  await openFromCard(store, card, { kept });
  expect(transport.stats().requests).toBe(2);
});

test('a filter lets one trace in 4,096 through that is not there, and takes under 16 bits for each of many', () => {
  const random = seededRandom(7);
  const word = (): number => Math.floor(random() * 2 ** 32);
  for (const size of [0, 1, 2, 3, 10, 100, 1000, samples(10_000, 100_000)]) {
    const words = Array.from({ length: size }, word);
    const bytes = TraceFilter.of([...words, ...words.slice(0, 3)])?.encode() ?? Buffer.alloc(0);
    const filter = TraceFilter.decode(bytes, 'x');
    const id = Buffer.alloc(16);
    const has = (one: number): boolean => {
      id.writeUInt32BE(one, 12);
      return filter.mayHave(id);
    };
    expect(words.every(has)).toBe(true);
    const TRIES = 100_000;
    let through = 0;
    for (let i = 0; i < TRIES; i++) if (has(word())) through++;
    // 24 are expected, with a deviation of 5, and as many words may be members as lie in them: 70 come once in 10^13 times.
    expect(through).toBeLessThan(70 + (TRIES * size) / 2 ** 31);
    if (size >= 10_000) expect((8 * bytes.length) / size).toBeLessThan(16);
    if (size > 0) expect(() => TraceFilter.decode(bytes.subarray(0, -1), 'x')).toThrow();
  }
});

test('what is no segment has no card', async () => {
  await expect(stored(Buffer.from('a text, and no segment at all'))).rejects.toMatchObject({ name: /Error$/ });
  const store = new MemoryStore();
  const object = { name: 'x', key: 'segments/x', etag: '', size: 5, uploadedMs: [1, 1] as const };
  await expect(makeCard(store, object)).rejects.toMatchObject({ code: 'ERR_SPANLINE_GRAPH_NOT_FOUND' });
});
