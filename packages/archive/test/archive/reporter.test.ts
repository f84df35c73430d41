// Spans of a real collector are found in the archive with everything they had, however they were recorded; a batch is kept whole or refused
// whole, and a span that no archive can keep takes no other with it.
import { expect, test, vi } from 'vitest';
import { timers } from '../../../../src/base/calls/timers.js';
import { Collector, LocalSpan, type ReportBatch, Span, SpanContext, type SpanRecord } from '../../../../src/index.js';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import { Archive } from '../../src/archive.js';
import { ArchiveReporter } from '../../src/archive-reporter.js';
import { traceTrees } from '../../src/trace-trees.js';
import { newDirectory, openArchive } from './support/directory.js';

/** Hands batches to the archive and keeps the records. */
class Tee {
  readonly name = 'tee';
  readonly records: SpanRecord[] = [];
  constructor(private readonly to: ArchiveReporter) {}
  report(batch: ReportBatch): void {
    this.records.push(...batch.traces.flatMap(({ spans }) => spans));
    this.to.report(batch);
  }
  flush(): Promise<void> {
    return this.to.flush();
  }
}

/** A record as its public getters show it. */
const expected = (record: SpanRecord): Omit<ArchivedSpan, 'resource' | 'scope'> => ({
  traceId: record.traceId,
  spanId: record.spanId,
  parentSpanId: record.parentSpanId,
  traceState: record.trace.traceState,
  name: record.name,
  kind: record.kind,
  startUnixNs: record.startUnixNs,
  endUnixNs: record.endUnixNs,
  status: { code: record.status.code, message: record.status.message ?? '' },
  properties: record.properties,
  events: record.events.map(({ name, timeUnixNs, properties }) => ({ name, timeUnixNs, properties })),
  flags: (record.hasRemoteParent ? 0x301 : 0x101) | (record.trace.isRandom ? 2 : 0),
  ...(record.isLocal && { isLocal: true }),
  links: record.links.map(({ traceId, spanId, traceState = '', properties = {} }) => ({
    ...{ traceId, spanId, traceState },
    properties: properties as ArchivedSpan['properties'],
  })),
});

const REMOTE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const record = (collector: Collector): void => {
  const other = Span.root('other', undefined, { collector });
  const root = Span.root('GET /cart', SpanContext.fromTraceparent(REMOTE, 'vendor=1'), { collector, kind: 'server' });
  root.addProperties({ text: 'žluťoučký 🐎', large: 2n ** 63n - 1n, list: [1.5, -0], flags: [true, false] });
  root.addLink(other, { why: 'batch' });
  root.run(() => {
    const parse = LocalSpan.start('parse');
    parse.addProperty('bytes', 120);
    parse.addEvent('half', { at: 60 });
    LocalSpan.start('token').end();
    parse.end();
  });
  const query = Span.start('query', root, { kind: 'client', properties: { 'db.system': 'lmdb' } });
  query.recordException(new Error('no such table'));
  query.setStatus('error', 'no such table');
  query.end();
  root.end();
  other.end();
};

test('everything a span can have, at once and after the archive was opened again', async () => {
  const directory = newDirectory();
  const archive = await Archive.open(directory);
  const collector = new Collector({ serviceName: 'shop', resourceAttributes: { 'host.name': 'h1', cores: 2 } });
  const tee = new Tee(new ArchiveReporter(archive));
  collector.setReporter(tee);
  record(collector);
  await collector.flush();
  expect(tee.records.map(({ name }) => name).sort()).toEqual(['GET /cart', 'other', 'parse', 'query', 'token']);
  const { traceId } = tee.records.find(({ name }) => name === 'parse') as SpanRecord;
  for (const one of [archive, undefined]) {
    if (one === undefined) await archive.close();
    const reading = one ?? (await openArchive(directory, { readOnly: true }));
    for (const record of tee.records) {
      const found = (await reading.trace(record.traceId)).find(({ spanId }) => spanId === record.spanId);
      expect(found).toEqual({
        ...expected(record),
        resource: { properties: expect.objectContaining({ 'service.name': 'shop', 'host.name': 'h1', cores: 2 }) },
        scope: { name: 'spanline', version: expect.stringMatching(/^\d+\.\d+\.\d+$/), properties: {} },
      });
    }
    const trees = traceTrees(await reading.trace(traceId));
    expect(trees.map(({ span, children }) => [span.name, children.map((child) => child.span.name)])).toEqual([
      ['GET /cart', ['parse', 'query']],
    ]);
    expect((await reading.search({ status: 'error', service: 'shop' })).map((summary) => summary.traceId)).toEqual([
      traceId,
    ]);
    expect(await reading.search({ properties: { large: '9223372036854775807' } })).toMatchObject([
      { traceId, name: 'GET /cart', service: 'shop', spanCount: 4, errorCount: 1, isComplete: false },
    ]);
  }
  await collector.shutdown();
});

const batchOf = async (...names: string[]): Promise<ReportBatch> => {
  const collector = new Collector({ serviceName: 'shop' });
  const batches: ReportBatch[] = [];
  collector.setReporter({ name: 'keep', report: (batch) => void batches.push(batch) });
  for (const name of names) Span.root(name, undefined, { collector }).end();
  await collector.shutdown();
  expect(batches).toHaveLength(1);
  return batches[0];
};

test('a batch there is no room for is refused whole, to be tried again', async () => {
  const archive = await openArchive(newDirectory(), { maxBufferedSpans: 3, segmentSpans: 100 });
  const reporter = new ArchiveReporter(archive);
  reporter.report(await batchOf('a', 'b'));
  const batch = await batchOf('c', 'd');
  const full = { code: 'ERR_SPANLINE_ARCHIVE_FULL', retryable: true };
  expect(() => reporter.report(batch)).toThrow(expect.objectContaining(full));
  expect(reporter.stats()).toEqual({ archivedSpans: 2, refusedSpans: 2, invalidSpans: 0 });
  await archive.seal();
  reporter.report(batch);
  expect((await archive.search()).map(({ name }) => name).sort()).toEqual(['a', 'b', 'c', 'd']);
});

test('a span that cannot be kept is counted, and takes no other with it', async () => {
  const archive = await openArchive(newDirectory());
  const reporter = new ArchiveReporter(archive);
  const collector = new Collector({ serviceName: 'shop' });
  collector.setReporter(reporter);
  Span.root('small', undefined, { collector }).end();
  Span.root('huge', undefined, { collector })
    .addProperty('body', 'x'.repeat(34 * 1024 * 1024))
    .end();
  Span.root('also small', undefined, { collector }).end();
  await collector.shutdown();
  expect((await archive.search()).map(({ name }) => name).sort()).toEqual(['also small', 'small']);
  expect(reporter.stats()).toMatchObject({ archivedSpans: 2, invalidSpans: 1 });
});

test('a large batch is taken in slices, between which everything else runs', async () => {
  const archive = await openArchive(newDirectory());
  const reporter = new ArchiveReporter(archive);
  const batch = await batchOf(...Array.from({ length: 200 }, (_, i) => `part ${i}`));
  // Each look at the clock finds the slice over.
  let ms = 0;
  const clock = vi.spyOn(timers, 'monotonicMs').mockImplementation(() => (ms += 100));
  try {
    const reported = reporter.report(batch);
    expect(reporter.stats().archivedSpans).toBeLessThan(100);
    await reported;
  } finally {
    clock.mockRestore();
  }
  expect(reporter.stats()).toEqual({ archivedSpans: 200, refusedSpans: 0, invalidSpans: 0 });
});
