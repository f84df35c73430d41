// Subject: spanline's archive: taking spans in, what they take on disk, traces by id among many segments.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Archive, writeSegment } from '../../dist/bench/graph.js';
import { archivePath, archiveTraceIds, scratchArchive, segmentPath, shopSpans } from './archive-files.mjs';
import { scratchPath } from './files.mjs';
import { sample } from './random.mjs';
import { sizes } from './settings.mjs';
import { check, countCase, runCase } from './support.mjs';

/** Spans that a reporter hands over at a time. */
const BATCH = 1000;
const LOOKUPS = 200;
const INGEST_ROUNDS = 7;

const { shop, store } = sizes;
const shopText = `${shop.traces * shop.spansPerTrace} synthetic spans without properties, ${shop.traces} traces`;
const storeText = `${store.segments} segments of ${store.traces} traces of ${store.spansPerTrace} spans`;

let made;
const spans = () => {
  made ??= shopSpans();
  return made;
};

const ingest = async (path) => {
  const archive = await Archive.open(path);
  const all = spans();
  for (let i = 0; i < all.length; i += BATCH) check('taken', archive.append(all.slice(i, i + BATCH)), BATCH);
  await archive.flush();
  await archive.close();
  return all.length;
};

const compact = async (path) => {
  const archive = await Archive.open(path);
  await archive.compact();
  await archive.close();
};

const bytesIn = (path) => readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);

const ingestCase = () => {
  let path;
  return runCase({
    name: 'archive-ingest',
    n: 'archive',
    unit: 'spans/s',
    note: `${shopText}; append in batches of ${BATCH}, through the write-ahead file, flush, segments at the defaults`,
    maxRounds: INGEST_ROUNDS,
    prepare: () => {
      spans();
      path = scratchArchive();
    },
    body: () => ingest(path),
    clean: () => rmSync(path, { recursive: true }),
  });
};

const segmentCase = () => {
  const path = scratchPath('shop.spans');
  return runCase({
    name: 'archive-ingest',
    n: 'segment',
    unit: 'spans/s',
    note: `${shopText}; one segment, synced to disk`,
    maxRounds: INGEST_ROUNDS,
    prepare: spans,
    body: () => writeSegment(path, spans()).spanCount,
    clean: () => rmSync(path),
  });
};

const bytesCases = () => [
  countCase({
    name: 'archive-bytes',
    n: 'segment',
    unit: 'bytes',
    note: `${shopText}; one segment`,
    body: () => statSync(segmentPath).size / spans().length,
  }),
  ...[false, true].map((isMerged) =>
    countCase({
      name: 'archive-bytes',
      n: isMerged ? 'merged' : 'archive',
      unit: 'bytes',
      note: `${shopText}; the segments that an archive ${isMerged ? 'merges them into' : 'writes at its defaults'}`,
      body: async () => {
        const path = scratchArchive();
        const count = await ingest(path);
        if (isMerged) await compact(path);
        const bytes = bytesIn(path);
        rmSync(path, { recursive: true });
        return bytes / count;
      },
    }),
  ),
];

/** Ids that the archive does not have. */
const absent = (ids) =>
  ids.map((id) => id.replaceAll(/[0-9a-f]/g, (digit) => (15 - Number.parseInt(digit, 16)).toString(16)));

const lookupCase = (n, note, idsOf, cacheBytes, wanted) => {
  let archive;
  let ids;
  return runCase({
    name: 'archive-lookup',
    n,
    unit: 'ms',
    note: `${note}; ${storeText}; mean of ${LOOKUPS}`,
    prepare: async () => {
      if (archive !== undefined) return;
      ids = idsOf(sample(await archiveTraceIds(), LOOKUPS, 5));
      archive = await Archive.open(archivePath, {
        readOnly: true,
        ...(cacheBytes === undefined ? {} : { cacheBytes }),
      });
      for (const id of ids) await archive.trace(id);
    },
    body: async () => {
      const since = performance.now();
      const before = process.cpuUsage();
      for (const id of ids) check('spans', (await archive.trace(id)).length, wanted);
      const { user, system } = process.cpuUsage(before);
      const seconds = (performance.now() - since) / 1000 / LOOKUPS;
      return { done: 1, seconds, cpu: (user + system) / 1e6 / LOOKUPS };
    },
  });
};

const same = (ids) => ids;

export const subject = 'spanline';
export const cases = [
  ingestCase(),
  segmentCase(),
  ...bytesCases(),
  lookupCase('decoding', 'segments open, no block kept: each trace is read and decoded', same, 1, store.spansPerTrace),
  lookupCase('cached', 'segments open, blocks of these traces kept', same, undefined, store.spansPerTrace),
  lookupCase('absent', 'traces that are not there', absent, undefined, 0),
];
