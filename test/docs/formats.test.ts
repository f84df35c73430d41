// The worked examples of docs/formats.md are what our writers write, and say what the page says they say, to our readers and to the one
// that is written by the page.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Archive, type ArchivedSpan, Segment, writeSegment } from '../../packages/archive/src/index.js';
import { clusterFile } from '../../packages/graph/src/container/cluster-map.js';
import {
  BufferSink,
  BufferTransport,
  CompactGraphBuilder,
  Container,
  ContainerWriter,
} from '../../packages/graph/src/index.js';
import { readGraphs } from '../../packages/graph/test/builder/support/graph-model.js';
import { exampleGraphs, exampleSpans, shownSpans } from '../examples/support/read-formats.js';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/formats.md'), 'utf8');

/** The bytes of an example: lines of an offset and of hexadecimal digits or text. */
const exampleBytes = (name: string): Buffer => {
  const [, block] = new RegExp(`^\`\`\`hex ${name}\n(.*?)^\`\`\``, 'ms').exec(PAGE) ?? [];
  const parts: Buffer[] = [];
  let offset = 0;
  for (const line of block.trimEnd().split('\n')) {
    expect(line.slice(0, 4)).toBe(offset.toString(16).padStart(4, '0'));
    const [, text] = /^.{4} {2}text: (.*)$/.exec(line) ?? [];
    const [, hex = ''] = /^.{4} {2}((?:[0-9a-f]{2} )*[0-9a-f]{2})(?: {2}|$)/.exec(line) ?? [];
    const part = text === undefined ? Buffer.from(hex.replaceAll(' ', ''), 'hex') : Buffer.from(text);
    parts.push(part);
    offset += part.length;
  }
  return Buffer.concat(parts);
};

const SPAN: ArchivedSpan = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  parentSpanId: '',
  traceState: '',
  name: 'GET /',
  kind: 'server',
  startUnixNs: 1_760_000_000_000_000_000n,
  endUnixNs: 1_760_000_000_005_000_000n,
  status: { code: 'unset', message: '' },
  properties: { 'http.response.status_code': 200 },
  events: [],
  links: [],
  resource: { properties: { 'service.name': 'shop' } },
  scope: { name: 'http', version: '1', properties: {} },
};

test('the container', async () => {
  const bytes = exampleBytes('container');
  const sink = new BufferSink();
  const writer = new ContainerWriter(sink, 'none');
  writer.section({ id: 1000 }, Buffer.from('anything'));
  writer.finish();
  expect(bytes).toEqual(sink.toBuffer());
  const container = await Container.open(new BufferTransport(bytes));
  const [section] = await container.read([container.need(1000)]);
  expect(section.toString()).toBe('anything');
});

test('the clustered file', async () => {
  const bytes = exampleBytes('clustered');
  const rest = [
    { offset: 0, length: 16 },
    { offset: 24, length: 96 },
  ];
  expect(bytes).toEqual(clusterFile(exampleBytes('container'), [[{ offset: 16, length: 8 }]], rest));
  const container = await Container.open(new BufferTransport(bytes));
  const [section] = await container.read([container.need(1000)]);
  expect(section.toString()).toBe('anything');
});

test('the graph', async () => {
  const bytes = exampleBytes('graph');
  const sink = new BufferSink();
  const graphs = [{ referenceLists: 1, order: 'child-first' } as const];
  const builder = new CompactGraphBuilder(sink, { compression: 'none', graphs });
  const [ada, adam, eve] = ['ada', 'adam', 'eve'].map((name) => Buffer.from(name));
  builder.add(0, ada, Buffer.from('1'), [[]]);
  builder.add(0, adam, Buffer.from('22'), [[ada, eve]]);
  await builder.finish();
  expect(bytes).toEqual(sink.toBuffer());
  expect(exampleGraphs(bytes)).toEqual([
    {
      nodes: [
        { key: adam, value: Buffer.from('22'), references: [[ada, eve]] },
        { key: ada, value: Buffer.from('1'), references: [[]] },
      ],
      ghosts: [eve],
    },
  ]);
  expect(await readGraphs(bytes)).toEqual([
    {
      nodes: { adam: { value: '22', references: [['ada', 'eve']] }, ada: { value: '1', references: [[]] } },
      ghosts: ['eve'],
    },
  ]);
});

test('the segment', async () => {
  const bytes = exampleBytes('segment');
  const sink = new BufferSink();
  writeSegment(sink, [SPAN], { compression: 'none' });
  expect(bytes).toEqual(sink.toBuffer());
  expect(exampleSpans(bytes)).toEqual(shownSpans([SPAN]));
  const segment = await Segment.open(bytes);
  expect((await segment.traces([SPAN.traceId])).get(SPAN.traceId)).toEqual([SPAN]);
});

test('the write-ahead file', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-formats-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const archive = await Archive.open(directory, { maintain: false, worker: false });
  archive.append([SPAN]);
  const [name] = readdirSync(directory).filter((file) => file.startsWith('wal-'));
  const bytes = exampleBytes('write-ahead');
  expect(bytes).toEqual(readFileSync(join(directory, name)));
  expect(exampleSpans(bytes)).toEqual(shownSpans([SPAN]));
  await archive.close();
});
