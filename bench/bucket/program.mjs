// node program.mjs STEP: one step of the suite on the archive that its parent serves, with what the parent says on standard input; prints what it found as one line.
//
// make: makes some of the distinct segments of the archive, `share.index` of `share.of`, and writes their cards to a file. Each hour has segments of its own,
// four for each of twelve services.
// publish: names all of them in the catalogue, and as many hard links to them as are missing, under other names, with cards of earlier hours and of other traces.
// read: opens the archive and asks; `times` are of the questions alone.
import { linkSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Archive,
  BufferSink,
  Catalogue,
  clusteredSegment,
  decodePack,
  encodePack,
  makeCard,
  openObjectStore,
  segmentName,
  TraceFilter,
  writeSegment,
} from '../../dist/bench/bucket.js';
import { anHourBefore, SERVICES, spansOf, tenantOf, traceIdOf } from './spans.mjs';

const HOUR_MS = 3_600_000;
const QUARTERS = 4;
const QUARTER_MS = HOUR_MS / QUARTERS;
const FIRST_MS = Date.UTC(2026, 10, 27, 10);
const NS = 1_000_000n;

const [step] = process.argv.slice(2);
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const settings = JSON.parse(Buffer.concat(chunks).toString());
const { place, endpoint, data, segments, distinct, tracesOfSegment, cacheDirectory } = settings;
const s3 = {
  endpoint,
  region: settings.region,
  credentials: async () => ({ accessKeyId: settings.accessKeyId, secretAccessKey: settings.secretAccessKey }),
};

const idOf = (number) => number.toString(16).padStart(12, '0');

const fakeFilters = (count) =>
  Array.from({ length: 16 }, (_, i) => {
    const words = new Set();
    for (let word = i + 1; words.size < count; word = (Math.imul(word, 1_664_525) + 1_013_904_223) >>> 0)
      words.add(word);
    return TraceFilter.of(words);
  });

const min = (times) => times.reduce((least, time) => (time < least ? time : least));
const max = (times) => times.reduce((most, time) => (time > most ? time : most));

/** The key of the segment of this number with these spans, its bytes and its card. */
const putSegment = async (store, number, spans) => {
  const start = min(spans.map(({ startUnixNs }) => startUnixNs));
  const end = max(spans.map(({ endUnixNs }) => endUnixNs));
  const name = segmentName(start, end, idOf(number));
  const sink = new BufferSink();
  writeSegment(sink, spans, {});
  const object = await clusteredSegment(sink.toBuffer());
  const key = `segments/${name}`;
  const { etag } = await store.put(key, object, { ifAbsent: true });
  return makeCard(store, { name, key, size: object.length, etag, uploadedMs: [FIRST_MS, FIRST_MS] });
};

const make = async () => {
  const store = openObjectStore(place, s3);
  const { index, of, file } = settings.share;
  const cards = [];
  const ofHour = QUARTERS * SERVICES.length;
  for (let i = index; i < Math.min(ofHour, distinct); i += of) {
    const quarter = Math.floor(i / SERVICES.length);
    const fromMs = FIRST_MS + quarter * QUARTER_MS;
    const first = quarter * tracesOfSegment;
    const part = { first, count: tracesOfSegment, fromMs, toMs: fromMs + QUARTER_MS };
    const spans = spansOf(i % SERVICES.length, part);
    for (let hour = 0, number = i; number < distinct; hour++, number += ofHour) {
      if (hour > 0) anHourBefore(spans, { hour, first, tracesOfHour: QUARTERS * tracesOfSegment });
      cards.push(await putSegment(store, number, spans));
    }
  }
  store.close();
  writeFileSync(file, (await encodePack(cards, Number.POSITIVE_INFINITY)).pack);
  return { bytes: cards.reduce((sum, { info }) => sum + info.bytes, 0) };
};

const publish = async () => {
  const store = openObjectStore(place, s3);
  const cards = [];
  for (const file of settings.files) cards.push(...(await decodePack(readFileSync(file), file, '')));
  const folder = join(data, place.replace('s3://', ''), 'segments');
  const filters = fakeFilters(tracesOfSegment);
  const hours = Math.ceil(distinct / (QUARTERS * SERVICES.length));
  for (let copy = 0; cards.length < segments; copy++) {
    const card = cards[copy % distinct];
    const shift = BigInt(hours * (1 + Math.floor(copy / distinct))) * BigInt(HOUR_MS) * NS;
    const startUnixNs = card.info.startUnixNs - shift;
    const endUnixNs = card.info.endUnixNs - shift;
    const name = segmentName(startUnixNs, endUnixNs, idOf(cards.length));
    linkSync(join(folder, card.name), join(folder, name));
    const info = { ...card.info, startUnixNs, endUnixNs };
    cards.push({ ...card, name, key: `segments/${name}`, info, filter: filters[copy % filters.length] });
  }
  const state = await new Catalogue(store).update(() => ({ add: cards, listFrom: '2026-11-27T11' }));
  store.close();
  return { segments: cards.length, packBytes: state.packs.reduce((sum, { pack }) => sum + pack.bytes, 0) };
};

/** Questions, the time of each, and what the store was asked for it. */
const ask = async (archive, question) => {
  const before = archive.traffic();
  const start = performance.now();
  const found = await question(archive);
  const ms = performance.now() - start;
  const after = archive.traffic();
  return { ms, found, requests: after.requests - before.requests, bytes: after.bytesRead - before.bytesRead };
};

/** A trace in the middle of the hour, another one for each number. */
const traceQuestion = (number) => async (archive) =>
  (await archive.trace(traceIdOf((number * 7919) % (QUARTERS * tracesOfSegment)))).length;

const searchQuestion = (number) => async (archive) =>
  (
    await archive.search({
      fromUnixNs: BigInt(FIRST_MS) * NS,
      toUnixNs: BigInt(FIRST_MS + HOUR_MS) * NS,
      service: 'payment',
      minDurationNs: 500_000_000n,
      properties: { tenant: tenantOf(number * 7) },
    })
  ).length;

/** The first question with the opening before it, and others after that. */
const read = async () => {
  const of = settings.question === 'trace' ? traceQuestion : searchQuestion;
  const start = performance.now();
  const archive = await Archive.open(place, { readOnly: true, cacheDirectory, s3 });
  const first = await ask(archive, of(settings.number));
  const { requests, bytesRead } = archive.traffic();
  const opened = { ...first, ms: performance.now() - start, requests, bytes: bytesRead };
  const warm = [];
  for (let i = 1; i <= settings.more; i++) warm.push(await ask(archive, of(settings.number + i)));
  await archive.close();
  return { first: opened, warm };
};

console.log(JSON.stringify(await { make, publish, read }[step]()));
