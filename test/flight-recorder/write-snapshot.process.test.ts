// A snapshot in a format of others holds what the snapshot holds: every span once, what is open and what is recorded here only marked as such,
// and why it was taken. A file is there whole or not at all.
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Archive } from '../../packages/archive/src/archive.js';
import { ArchiveReporter } from '../../packages/archive/src/archive-reporter.js';
import { decodeJaegerJson } from '../../packages/archive/src/formats/jaeger-json/read-traces.js';
import { decodeOtlpJson } from '../../packages/archive/src/formats/otlp/read-json.js';
import { MemoryReporter } from '../../src/exporters/memory.js';
import { OtlpReporter } from '../../src/exporters/otlp.js';
import {
  readSnapshotFile,
  reportSnapshot,
  SNAPSHOT_FORMATS,
  type Snapshot,
  type SnapshotFormat,
  type TimelineRow,
  writeSnapshot,
} from '../../src/flight-recorder/index.js';
import { LocalSpan, type ReportBatch, Span } from '../../src/index.js';
import type { ArchivedSpan } from '../../src/record/archived-span.js';
import { startServer } from '../exporters/support/http-server.js';
import { decodeProtobuf } from '../exporters/support/otlp-decode.js';
import { decodePerfetto } from '../formats/support/perfetto-decode.js';
import { flight, linesOf } from './support/flight.js';

const directory = mkdtempSync(join(tmpdir(), 'spanline-write-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const fresh = (): string => mkdtempSync(join(directory, 'x'));

/** Three kinds of traces: sampled, recorded here only, open. */
const some = (count = 30) => {
  const it = flight({
    sampler: ({ name }) => name !== 'unsampled',
    resourceAttributes: { 'process.pid': 4711 },
    serviceName: 'shop',
  });
  for (let i = 0; i < count; i++) {
    const one = it.root(i % 3 === 0 ? 'unsampled' : `GET /${i % 5}`);
    one.run(() => LocalSpan.start('local').end());
    Span.start('child', one).end();
    one.end();
  }
  it.root('open');
  return it.recorder.snapshot({ kind: 'slow', text: 'GET /1 took 4012 ms', traceId: '' });
};

const decoded: Readonly<Record<string, (bytes: Buffer) => readonly ArchivedSpan[]>> = {
  'otlp-lines': (bytes) =>
    bytes
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .flatMap((line) => decodeOtlpJson(Buffer.from(line)).spans),
  otlp: (bytes) => decodeOtlpJson(bytes).spans,
  jaeger: (bytes) => decodeJaegerJson(bytes).spans,
};

const lineOf = ({ traceId, spanId, parentSpanId, name, startUnixNs, endUnixNs }: ArchivedSpan): string =>
  [traceId, spanId, parentSpanId, name, startUnixNs, endUnixNs].join(' ');

const linesIn = (snapshot: Snapshot): string[] =>
  [...snapshot.traces()].flatMap(({ traceId, spans }) =>
    spans.map(({ record: { spanId, parentSpanId, name, startUnixNs, endUnixNs } }) =>
      [traceId, spanId, parentSpanId, name, startUnixNs, endUnixNs].join(' '),
    ),
  );

test.each(['otlp-lines', 'otlp', 'jaeger'] as const)(
  '%s holds every span once, and says what the snapshot knows',
  async (format) => {
    const snapshot = some();
    const path = join(fresh(), 'deep/last.json');
    const written = await writeSnapshot(snapshot, path, { format });
    const bytes = readFileSync(path);
    expect(written).toEqual({ traceCount: 31, spanCount: 91, bytes: bytes.length });
    const spans = decoded[format](bytes);
    expect(spans.map(lineOf).sort()).toEqual(linesIn(snapshot).sort());
    for (const { name, parentSpanId, properties, flags = 0, resource } of spans) {
      expect(properties['spanline.open']).toBe(name === 'open' ? true : undefined);
      expect(properties['spanline.sampled']).toBe(name === 'unsampled' ? false : undefined);
      if (parentSpanId === '') expect(flags & 1).toBe(name === 'unsampled' ? 0 : 1);
      expect(resource.properties).toMatchObject({
        'service.name': 'shop',
        'process.pid': 4711,
        'spanline.snapshot.reason': 'slow',
        'spanline.snapshot.text': 'GET /1 took 4012 ms',
      });
    }
    expect(readdirSync(join(path, '..'))).toEqual(['last.json']);
  },
);

test('the default is a line a trace', async () => {
  const path = join(fresh(), 'last.jsonl');
  const snapshot = some();
  await writeSnapshot(snapshot, path);
  expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength([...snapshot.traces()].length);
});

test('flight is what the recorder itself writes', async () => {
  const path = join(fresh(), 'last.flight');
  const snapshot = some();
  expect(await writeSnapshot(snapshot, path, { format: 'flight' })).toEqual({
    spanCount: 91,
    bytes: statSync(path).size,
  });
  expect(linesOf(await readSnapshotFile(path))).toEqual(linesOf(snapshot));
});

test.each(SNAPSHOT_FORMATS)(
  '%s is for its owner alone, and a file that is there stays as open as it was',
  async (format) => {
    const path = join(fresh(), 'last');
    await writeSnapshot(some(3), path, { format });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    chmodSync(path, 0o644);
    await writeSnapshot(some(3), path, { format });
    expect(statSync(path).mode & 0o777).toBe(0o644);
  },
);

const TIMELINE: readonly TimelineRow[] = [
  { kind: 'gc', startUs: 1_000_000, endUs: 1_004_000, detail: 'mark-compact', parts: [] },
  {
    kind: 'busy',
    startUs: 1_000_000,
    endUs: 1_090_000,
    detail: '',
    parts: [
      {
        startUs: 1_000_000,
        endUs: 1_060_000,
        traceId: 'a'.repeat(32),
        spanId: 'b'.repeat(16),
        name: 'POST /import',
        frames: [],
      },
      { startUs: 1_070_000, endUs: 1_080_000, traceId: '', spanId: '', name: '', frames: ['parse app.js:12'] },
    ],
  },
  { kind: 'turns', startUs: 1_100_000, endUs: 1_108_000, detail: '', parts: [], idleUs: 2000 },
];

test('perfetto holds every span once, open ones begun only, and the event-loop timeline', async () => {
  const taken = some();
  const path = join(fresh(), 'last.perfetto-trace');
  const snapshot: Snapshot = {
    reason: taken.reason,
    takenUnixUs: taken.takenUnixUs,
    bufferedMs: taken.bufferedMs,
    spanCount: taken.spanCount,
    resource: taken.resource,
    tornRows: 0,
    timeline: TIMELINE,
    traces: () => taken.traces(),
  };
  expect(await writeSnapshot(snapshot, path, { format: 'perfetto' })).toMatchObject({ traceCount: 31, spanCount: 91 });
  const { slices, tracks } = decodePerfetto(readFileSync(path));
  const spans = slices.filter(({ args, isInstant }) => args['span.id'] !== undefined && !isInstant);
  const ids = spans.filter(({ categories }) => !categories.includes('busy')).map(({ args }) => String(args['span.id']));
  expect(ids.sort()).toEqual(
    [...taken.traces()].flatMap(({ spans }) => spans.map(({ record }) => record.spanId)).sort(),
  );
  expect(slices.filter(({ isInstant, endNs }) => !isInstant && endNs === undefined).map(({ name }) => name)).toEqual([
    'open',
  ]);
  expect(slices.find(({ name }) => name === 'unsampled')?.args['spanline.sampled']).toBe(false);
  const [process] = tracks.values();
  expect(process.process).toEqual({ pid: 4711, name: 'shop' });
  expect(slices.find(({ isInstant }) => isInstant)).toMatchObject({
    name: 'snapshot: slow',
    args: { 'spanline.snapshot.text': 'GET /1 took 4012 ms' },
  });
  const onTrack = (name: string) =>
    slices
      .filter(({ track }) => (tracks.get(track)?.thread?.name ?? tracks.get(track)?.name) === name)
      .map(({ name: of, depth, startNs, endNs = 0n }) => [of, depth, Number(startNs), Number(endNs)]);
  expect(onTrack('garbage collection')).toEqual([['mark-compact', 0, 1_000_000_000, 1_004_000_000]]);
  expect(onTrack('event loop')).toEqual([
    ['busy', 0, 1_000_000_000, 1_090_000_000],
    ['POST /import', 1, 1_000_000_000, 1_060_000_000],
    ['parse app.js:12', 1, 1_070_000_000, 1_080_000_000],
  ]);
  expect(onTrack('short turns of the event loop')).toEqual([['75 % work', 0, 1_100_000_000, 1_108_000_000]]);
});

test.each(['otlp-lines', 'perfetto', 'flight'] as const)(
  '%s: an abort leaves the file that was there, and nothing beside it',
  async (format) => {
    const place = fresh();
    const path = join(place, 'last');
    writeFileSync(path, 'old');
    const work = writeSnapshot(some(), path, { format, signal: AbortSignal.abort(new Error('enough')) });
    await expect(work).rejects.toMatchObject({ code: 'ERR_SPANLINE_FLIGHT_ABORTED', cause: new Error('enough') });
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(place)).toEqual(['last']);
  },
);

test('an abort in the middle leaves nothing either', async () => {
  const place = fresh();
  const controller = new AbortController();
  const work = writeSnapshot(some(20_000), join(place, 'last'), { signal: controller.signal });
  // Some turns of the event loop after its begin, of the hundreds that it takes.
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await expect(work).rejects.toMatchObject({ code: 'ERR_SPANLINE_FLIGHT_ABORTED' });
  expect(readdirSync(place)).toEqual([]);
});

test('a file that cannot be written is named', async () => {
  const path = join(fresh(), 'file');
  writeFileSync(path, '');
  await expect(writeSnapshot(some(), join(path, 'last'))).rejects.toMatchObject({
    code: 'ERR_SPANLINE_FLIGHT_FILE',
    message: expect.stringContaining(path),
  });
  const format = 'xml' as SnapshotFormat;
  await expect(writeSnapshot(some(), path, { format })).rejects.toMatchObject({ code: 'ERR_SPANLINE_OPTION' });
});

test('a reporter gets every span, in batches that are bounded, one after another', async () => {
  const it = flight({ sampler: ({ name }) => name !== 'unsampled', maxSpansPerTrace: 50_000 });
  const long = it.root('long');
  for (let i = 0; i < 20_000; i++) Span.start('step', long).end();
  long.end();
  it.root('unsampled').end();
  it.root('open');
  const snapshot = it.snapshot('why');
  const memory = new MemoryReporter();
  const batches: ReportBatch[] = [];
  let isBusy = false;
  const reported = await reportSnapshot(snapshot, {
    name: 'slow',
    async report(batch) {
      expect(isBusy).toBe(false);
      isBusy = true;
      batches.push(batch);
      memory.report(batch);
      await new Promise((done) => setImmediate(done));
      isBusy = false;
    },
  });
  expect(reported).toEqual({ traceCount: 3, spanCount: 20_003, batches: 10 });
  expect(batches.map(({ spanCount }) => spanCount)).toEqual([...Array(9).fill(2048), 1571]);
  expect(batches.map(({ traces }) => traces.map(({ isContinuation }) => isContinuation))).toEqual([
    [false],
    ...Array(8).fill([true]),
    [true, false, false],
  ]);
  expect(batches[0].traces[0]).toMatchObject({ root: { name: 'long' }, hasError: false });
  expect(memory.spans.map(({ spanId }) => spanId).sort()).toEqual(
    [...snapshot.traces()].flatMap(({ spans }) => spans.map(({ record }) => record.spanId)).sort(),
  );
  expect(memory.find('unsampled')?.properties).toEqual({ 'spanline.sampled': false });
  expect(memory.find('open')?.properties).toEqual({ 'spanline.open': true });
  expect(memory.traces[0].resource.attributes).toMatchObject({
    'spanline.snapshot.reason': 'call',
    'spanline.snapshot.text': 'why',
  });
});

test('what goes out by a reporter may be taken by a backend that looks at the flags, and says what was recorded here only', async () => {
  const snapshot = some();
  const server = await startServer();
  const reporter = new OtlpReporter({ endpoint: server.url, compression: 'none' });
  await reportSnapshot(snapshot, reporter);
  await reporter.shutdown();
  await server.close();
  const requests = server.requests.map(({ body }) => decodeProtobuf(body));
  const spans = requests.flatMap((request) => request.spans);
  expect(spans).toHaveLength(91);
  // W3C "sampled" on all of them, so that none is left out on the way.
  expect(spans.filter(({ flags }) => (flags & 1) === 0)).toEqual([]);
  const marked = spans.filter(({ attributes }) => attributes.some(([key]) => key === 'spanline.sampled'));
  // Of each such trace the first span alone.
  expect(marked.map(({ name }) => name)).toEqual(Array(10).fill('unsampled'));
  for (const { attributes } of marked) expect(attributes).toContainEqual(['spanline.sampled', ['bool', false]]);
  for (const { resource } of requests)
    expect(resource).toContainEqual(['spanline.snapshot.reason', ['string', 'slow']]);
});

test('an archive takes a snapshot', async () => {
  const snapshot = some();
  const archive = await Archive.open(fresh());
  await reportSnapshot(snapshot, new ArchiveReporter(archive));
  const found = await archive.search({ name: 'unsampled', limit: 100 });
  expect(found).toHaveLength(10);
  expect((await archive.search({ properties: { 'spanline.open': 'true' } })).map(({ name }) => name)).toEqual(['open']);
  await archive.close();
});

test('a report that fails ends it, and an abort between batches too', async () => {
  const failing = reportSnapshot(some(), { name: 'bad', report: () => Promise.reject(new Error('no')) });
  await expect(failing).rejects.toThrow('no');
  const controller = new AbortController();
  const aborted = reportSnapshot(
    some(),
    { name: 'aborting', report: () => controller.abort() },
    { signal: controller.signal },
  );
  await expect(aborted).rejects.toMatchObject({ code: 'ERR_SPANLINE_FLIGHT_ABORTED' });
});
