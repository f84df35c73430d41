// An archive in a bucket of a real server answers as one in a directory does: of what is in the bucket, and of what a writer has in its spool.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { timers } from 'spanline/internal/base';
import { expect, onTestFinished, test, vi } from 'vitest';
import { bundleChild } from '../../../../test/support/child.js';
import { samples } from '../../../../test/support/samples.js';
import { describeBucket, type RunningVersitygw } from '../../../../test/support/versitygw.js';
import { Archive } from '../../src/archive.js';
import type { ArchiveOptions } from '../../src/archive-options.js';
import { BucketHome } from '../../src/bucket/bucket-home.js';
import { Spool } from '../../src/bucket/spool.js';
import { LOCK_FILE } from '../../src/bucket/spool-lock.js';
import { checkAnySteps } from '../archive/support/archive-model.js';
import { newDirectory } from '../archive/support/directory.js';
import { numberedTrace } from '../archive/support/numbered-traces.js';
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

  test('any steps, as the model', async () => {
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

  test('a writer that was stopped while another took its spool over loses nothing, and says so', {
    timeout: 60_000,
  }, async () => {
    const place = newPlace();
    const home = newDirectory();
    const program = await bundleChild(fileURLToPath(new URL('./children/stopped-writer.ts', import.meta.url)));
    const { endpoint, accessKeyId, secretAccessKey } = server();
    const writer = spawn(process.execPath, [program, place, home], {
      env: {
        ...process.env,
        ...{ AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey },
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    onTestFinished(() => void writer.kill('SIGKILL'));
    const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('flushed 0');
    writer.kill('SIGSTOP');
    // As if it had been stopped for long.
    const old = Date.now() / 1000 - 61;
    utimesSync(join(home, 'process-0', LOCK_FILE), old, old);
    const other = await Spool.openOneOf(home);
    expect(other.directory).toBe(join(home, 'process-1'));
    expect(await other.adopt()).toEqual({ files: 1, failures: [] });
    writer.kill('SIGCONT');
    writer.stdin.write('go on\n');
    expect((await lines.next()).value).toMatch(
      /^flushed 1 the spool .*process-0 was taken over by another process while this one gave no sign of life/,
    );
    writer.kill('SIGKILL');
    await once(writer, 'exit');
    other.close();
    const archive = await open(place, { spool: home, spoolIsShared: true });
    // What lies in the other spool is found by who takes it over.
    await vi.waitFor(async () => expect(await archive.search({ limit: 100 })).toHaveLength(20), { timeout: 20_000 });
    const spans = Array.from({ length: 20 }, (_, n) => numberedTrace(n)).flat();
    expect(isDeepStrictEqual(byId((await collect(archive.scan())).flat()), byId(spans))).toBe(true);
  });

  test('a spool that another process has takes nothing and makes sure of nothing, until it is free', async () => {
    const spool = newDirectory();
    const notices: string[] = [];
    const archive = await open(newPlace(), { spool, onNotice: (line) => notices.push(line) });
    const [first, second] = syntheticSpans({ traces: 2, spansPerTrace: 1, seed: 8 });
    archive.append([first]);
    await archive.flush();
    const lock = join(spool, LOCK_FILE);
    const text = readFileSync(lock, 'utf8');
    writeFileSync(lock, JSON.stringify({ ...JSON.parse(text), pid: process.ppid }));
    const { monotonicMs } = timers;
    let laterMs = 61_000;
    vi.spyOn(timers, 'monotonicMs').mockImplementation(() => monotonicMs() + laterMs);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(archive.append([second])).toBe(0);
    const lost = {
      code: 'ERR_SPANLINE_BUCKET_SPOOL',
      message: expect.stringContaining(`by process ${process.ppid} of`),
    };
    await expect(archive.flush()).rejects.toMatchObject(lost);
    await expect(archive.seal()).rejects.toMatchObject(lost);
    expect(await archive.stats()).toMatchObject({ refusedSpans: 1, bucket: { spoolLosses: 1 } });
    rmSync(lock);
    laterMs += 1000;
    expect(archive.append([second])).toBe(1);
    await archive.seal();
    expect(await archive.search()).toHaveLength(2);
    expect(notices.filter((line) => line.includes('is its own again'))).toHaveLength(1);
  });

  test('failing uploads are reported once, and so is that they go on', async () => {
    const proxy = await startStoreProxy(server().endpoint);
    onTestFinished(() => proxy.close());
    const notices: string[] = [];
    const archive = await open(newPlace(), {
      s3: { endpoint: proxy.endpoint, retries: 0, credentials: async () => accountOf(server()) },
      onNotice: (line) => notices.push(line),
    });
    const [first, second] = syntheticSpans({ traces: 2, spansPerTrace: 1, seed: 6 });
    proxy.trouble = ({ method }) => (method === 'PUT' ? { kind: 'answer', status: 503, code: 'SlowDown' } : undefined);
    archive.append([first]);
    await expect(archive.seal()).rejects.toThrow();
    await expect(archive.seal()).rejects.toThrow();
    expect(notices).toEqual([expect.stringMatching(/^spans wait in the spool .* and are tried again: .*SlowDown/)]);
    proxy.trouble = () => undefined;
    await archive.seal();
    archive.append([second]);
    await archive.seal();
    expect(notices.slice(1)).toEqual([expect.stringMatching(/^spans get into s3:\/\/traces\/archive-\d+ again$/)]);
  });

  test('a search that was ended by its bound is no damage of a file', async () => {
    const place = newPlace();
    const archive = await open(place);
    archive.append(syntheticSpans({ traces: 3, spansPerTrace: 2, seed: 7 }));
    await archive.seal();
    const { searchBound } = BucketHome.prototype;
    vi.spyOn(BucketHome.prototype, 'searchBound').mockImplementation(function (this: BucketHome, tell) {
      return { ...searchBound.call(this, tell), isOver: () => true };
    });
    onTestFinished(() => void vi.restoreAllMocks());
    const reported: string[] = [];
    expect(archive.endedSearch).toBeUndefined();
    expect(await archive.search({}, { onDamage: ({ message }) => reported.push(message) })).toEqual([]);
    expect(reported).toEqual([expect.stringContaining('the search was ended')]);
    expect(archive.endedSearch?.message).toBe(reported[0]);
    expect((await archive.stats()).damaged).toEqual([]);
    expect(await archive.damaged()).toEqual([]);
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

  test('timelines are found whatever the clock of the reader says', async () => {
    const place = newPlace();
    const writer = await open(place);
    const [span] = syntheticSpans({ traces: 1, spansPerTrace: 1, seed: 4 });
    const toUs = Date.now() * 1000;
    writer.appendTimeline([], span.resource, toUs - 10_000, toUs);
    writer.append([span]);
    await writer.seal();
    const reader = await open(place, { readOnly: true });
    const clock = vi.spyOn(timers, 'wallMs').mockImplementation(() => Date.now() - 5 * 3_600_000);
    onTestFinished(() => clock.mockRestore());
    expect(await reader.timeline(toUs - 10_000, toUs)).toHaveLength(1);
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
