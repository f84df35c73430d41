// What was recorded here, archived and exported as OTLP is what OtlpReporter sends for the same trace, field for field: the way over the disk
// loses nothing and makes nothing up.
import { expect, onTestFinished, test } from 'vitest';
import { OtlpReporter } from '../../../../src/exporters/otlp.js';
import { Collector, LocalSpan, type ReportBatch, Span, SpanContext } from '../../../../src/index.js';
import { startServer } from '../../../../test/exporters/support/http-server.js';
import { type DecodedRequest, decodeJson, decodeProtobuf } from '../../../../test/exporters/support/otlp-decode.js';
import { batchOf, fullRecord, record } from '../../../../test/exporters/support/records.js';
import { ArchiveReporter } from '../../src/archive-reporter.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { newDirectory, openArchive } from './support/directory.js';

const REMOTE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03';

const ordered = ({ spans, ...rest }: DecodedRequest): DecodedRequest => ({
  ...rest,
  spans: [...spans].sort((a, b) => (a.traceId + a.spanId < b.traceId + b.spanId ? -1 : 1)),
});

/** What OtlpReporter sends of a batch. */
const sent = async (batch: ReportBatch, protocol: 'json' | 'protobuf'): Promise<DecodedRequest> => {
  const server = await startServer();
  onTestFinished(() => server.close());
  const reporter = new OtlpReporter({ endpoint: server.url, protocol, compression: 'none' });
  await reporter.report({ ...batch, signal: new AbortController().signal });
  await reporter.shutdown();
  expect(server.requests).toHaveLength(1);
  const [{ body }] = server.requests;
  return ordered(protocol === 'json' ? decodeJson(body) : decodeProtobuf(body));
};

/** The same by way of an archive that was closed in between. */
const archived = async (batch: ReportBatch): Promise<DecodedRequest> => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  new ArchiveReporter(archive).report(batch);
  await archive.close();
  const reading = await openArchive(directory, { readOnly: true });
  const spans = [];
  for await (const trace of reading.scan()) spans.push(...trace);
  return ordered(decodeJson(Buffer.from(encodeOtlpJson(spans))));
};

/** What a collector reports of a program that gives spans more than they can keep. */
const recorded = async (): Promise<ReportBatch> => {
  const collector = new Collector({
    serviceName: 'shop',
    resourceAttributes: { 'host.name': 'h1' },
    maxPropertiesPerSpan: 8,
    maxEventsPerSpan: 2,
    maxLinksPerSpan: 1,
  });
  const batches: ReportBatch[] = [];
  collector.setReporter({ name: 'keep', report: (batch) => void batches.push(batch) });
  const root = Span.root('GET /cart', SpanContext.fromTraceparent(REMOTE, 'vendor=1'), { collector, kind: 'server' });
  for (let i = 0; i < 12; i++) root.addProperty(`p${i}`, i);
  for (let i = 0; i < 4; i++) root.addEvent(`e${i}`, { at: i, wrong: new Date(0) as never });
  for (let i = 0; i < 3; i++) root.addLink(SpanContext.random(), { i, wrong: new Map() as never });
  root.run(() => {
    LocalSpan.start('parse')
      .addProperty('bytes', 120)
      .addProperty('wrong', new Date(0) as never)
      .end();
  });
  Span.start('query', root, { kind: 'client' }).recordException(new Error('no')).setStatus('error', 'no').end();
  root.end();
  await collector.shutdown();
  expect(batches).toHaveLength(1);
  return batches[0];
};

test.each(['json', 'protobuf'] as const)('a recorded trace, against %s', async (protocol) => {
  const batch = await recorded();
  const expected = await sent(batch, protocol);
  // Else there is nothing to lose.
  const root = expected.spans.find(({ name }) => name === 'GET /cart');
  expect(root).toMatchObject({ flags: 0x303, traceState: 'vendor=1' });
  expect(root?.dropped.every((count) => count > 0)).toBe(true);
  expect(root?.events.every(({ dropped }) => dropped === 1)).toBe(true);
  expect(root?.links.every(({ dropped }) => dropped === 1)).toBe(true);
  expect(expected.spans.find(({ name }) => name === 'parse')?.dropped).toEqual([1, 0, 0]);
  expect(await archived(batch)).toEqual(expected);
});

test.each(['json', 'protobuf'] as const)('every field a span can have, against %s', async (protocol) => {
  const odd = record({
    name: 'odd',
    id: [1, 2],
    properties: ['list', [1, 2.5], 'large', 2n ** 80n, 'nan', NaN],
  });
  const batch = batchOf([[fullRecord(), odd]]);
  expect(await archived(batch)).toEqual(await sent(batch, protocol));
});
