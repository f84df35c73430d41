// An archive in a bucket of a real server answers as one in a directory does: of what is in the bucket, and of what a writer has in its spool.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { describeBucket, type RunningVersitygw } from '../../../../test/support/versitygw.js';
import { Archive } from '../../src/archive.js';
import type { ArchiveOptions } from '../../src/archive-options.js';
import { checkAnySteps } from '../archive/support/archive-model.js';
import { newDirectory } from '../archive/support/directory.js';
import { bruteForce, withoutBytes } from '../segment/support/brute-force.js';
import { byId, collect, tracesOf } from '../segment/support/segments.js';
import { syntheticSpans } from '../segment/support/synthetic-spans.js';
import { startStoreProxy } from './support/store-proxy.js';

const accountOf = ({ accessKeyId, secretAccessKey }: RunningVersitygw) => ({ accessKeyId, secretAccessKey });

describeBucket('an archive in a bucket', (server) => {
  let archives = 0;
  const newPlace = (): string => `s3://traces/archive-${archives++}`;
  const open = async (place: string, options: ArchiveOptions = {}): Promise<Archive> => {
    const s3 = { endpoint: server().endpoint, credentials: async () => accountOf(server()) };
    const spool = options.readOnly ? {} : { spool: newDirectory() };
    const archive = await Archive.open(place, { ...spool, cacheDirectory: newDirectory(), s3, ...options });
    onTestFinished(() => archive.close());
    return archive;
  };

  test('any steps, as the model', { timeout: 120_000 }, async () => {
    await checkAnySteps(samples(3, 12, 100), () => {
      const place = newPlace();
      const spools = [newDirectory(), newDirectory()];
      return {
        open: (writer) => open(place, { spool: spools[writer], unsortedSpans: 5, mergedSpans: 500 }),
        sharesUnsealed: false,
      };
    });
  });

  test('what is sealed is seen by others; what is flushed by its writer alone', async () => {
    const place = newPlace();
    const writer = await open(place);
    const reader = await open(place, { readOnly: true });
    const spans = syntheticSpans({ traces: 20, spansPerTrace: 5, seed: 1 });
    writer.append(spans);
    await writer.flush();
    expect(withoutBytes(await writer.search({ limit: 100 }))).toEqual(bruteForce(spans, { limit: 100 }));
    expect(await reader.search()).toEqual([]);
    await writer.seal();
    for (const archive of [writer, reader]) {
      expect(withoutBytes(await archive.search({ limit: 100 }))).toEqual(bruteForce(spans, { limit: 100 }));
      for (const [id, trace] of tracesOf(spans))
        expect(isDeepStrictEqual(byId(await archive.trace(id)), byId(trace))).toBe(true);
      expect(isDeepStrictEqual(byId((await collect(archive.scan())).flat()), byId(spans))).toBe(true);
      expect(await archive.services()).toEqual(
        [...new Set(spans.map(({ resource }) => resource.properties['service.name']))].sort(),
      );
      const stats = await archive.stats();
      expect(stats).toMatchObject({ segments: 1, spans: 100, damaged: [] });
      expect(stats.bucket).toMatchObject({ freshUploads: 1, uploads: archive === writer ? 1 : 0 });
    }
  });

  test('while the store is away spans are taken, and are there when it is back', async () => {
    const place = newPlace();
    const spool = newDirectory();
    const away = { endpoint: 'http://127.0.0.1:1', retries: 0, credentials: async () => accountOf(server()) };
    const spans = syntheticSpans({ traces: 3, spansPerTrace: 2, seed: 2 });
    const offline = await open(place, { spool, s3: away });
    offline.append(spans);
    await offline.flush();
    await expect(offline.seal()).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_UNAVAILABLE' });
    await offline.close();
    const reader = await open(place, { readOnly: true });
    expect(await reader.search()).toEqual([]);
    await (await open(place, { spool })).seal();
    expect(withoutBytes(await reader.search())).toEqual(bruteForce(spans, {}));
  });

  test('a store that takes requests and never answers keeps nobody from coming up and going', {
    timeout: 60_000,
  }, async () => {
    const silent = createServer((socket) => socket.on('error', () => {}));
    await once(silent.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const s3 = { endpoint: `http://127.0.0.1:${port}`, stallMs: 600_000, credentials: async () => accountOf(server()) };
    const archive = await open(newPlace(), { s3, spool: newDirectory() });
    const spans = syntheticSpans({ traces: 3, spansPerTrace: 2, seed: 5 });
    expect(archive.append(spans)).toBe(spans.length);
    await archive.close();
  });

  test('who is to maintain is refused at once where the store makes no conditional writes', async () => {
    const proxy = await startStoreProxy(server().endpoint);
    onTestFinished(() => proxy.close());
    proxy.trouble = ({ method }) =>
      method === 'PUT' ? { kind: 'answer', status: 501, code: 'NotImplemented' } : undefined;
    const s3 = { endpoint: proxy.endpoint, credentials: async () => accountOf(server()) };
    const opening = open(newPlace(), { s3, maintain: true });
    await expect(opening).rejects.toMatchObject({ code: 'ERR_SPANLINE_BUCKET_NOT_CONDITIONAL' });
  });

  test('a full spool refuses spans, and takes them again when it has been uploaded', async () => {
    const archive = await open(newPlace(), { spoolBytes: 10_000 });
    const spans = syntheticSpans({ traces: 500, spansPerTrace: 4, seed: 3 });
    expect(archive.append(spans)).toBe(spans.length);
    await archive.stats();
    expect(archive.append(spans)).toBe(0);
    expect((await archive.stats()).refusedSpans).toBe(spans.length);
    await archive.seal();
    await archive.stats();
    expect(archive.room).toBeGreaterThan(0);
  });

  test('timelines go up with segments, and are read by others', async () => {
    const place = newPlace();
    const writer = await open(place);
    const [span] = syntheticSpans({ traces: 1, spansPerTrace: 1, seed: 4 });
    const toUs = Date.now() * 1000;
    const row = { kind: 'gc', startUs: toUs - 5000, endUs: toUs - 1000, detail: 'scavenge', parts: [] } as const;
    writer.appendTimeline([row], span.resource, toUs - 10_000, toUs);
    writer.append([span]);
    await writer.seal();
    const reader = await open(place, { readOnly: true });
    for (const archive of [reader, writer]) {
      const stretches = await archive.timeline(toUs - 10_000, toUs);
      expect(stretches.map(({ rows }) => rows)).toEqual([[row]]);
    }
  });

  test.each([
    ['without a spool', 's3://traces/x', {}, 'ERR_SPANLINE_GRAPH_BAD_OPTIONS'],
    ['with a spool of no bytes', 's3://traces/x', { spool: 'x', spoolBytes: 0 }, 'ERR_SPANLINE_GRAPH_BAD_OPTIONS'],
    ['no address', 's3://', { readOnly: true }, 'ERR_SPANLINE_BUCKET_LOCATION'],
    ['no bucket', 's3://nowhere/x', { readOnly: true }, 'ERR_SPANLINE_BUCKET_MISSING'],
  ])('refused: %s', async (_, place, options, code) => {
    const { endpoint } = server();
    const s3 = { endpoint, credentials: async () => accountOf(server()) };
    await expect(Archive.open(place, { s3, cacheDirectory: '', ...options })).rejects.toMatchObject({ code });
  });
});
