// What goes into a Perfetto file comes out of it by the published field numbers: every span a slice of its trace with its properties, its
// events, its error and its links.
import { expect, test } from 'vitest';
import { OWN_SCOPE } from '../../../src/formats/library.js';
import {
  type PerfettoSpans,
  type PerfettoStretch,
  PerfettoWriter,
} from '../../../src/formats/perfetto/write-perfetto.js';
import type { SpanRecord } from '../../../src/index.js';
import { LocalSpan, Span } from '../../../src/index.js';
import { ArchivedDouble, type ArchivedSpan } from '../../../src/record/archived-span.js';
import type { FinishedSpan } from '../../../src/record/finished-span.js';
import { ObjectView } from '../../../src/record/object-view.js';
import { recorder } from '../../support/recorder.js';
import { decodePerfetto } from '../support/perfetto-decode.js';

const RESOURCE = { properties: {} };
const shown = (record: SpanRecord, isOpen = false) => ({
  span: new ObjectView(RESOURCE, OWN_SCOPE).of(record),
  isLocal: record.isLocal,
  isOpen,
});

const all = (spans: readonly { span: FinishedSpan; isLocal: boolean; isOpen: boolean }[]): PerfettoSpans => ({
  length: spans.length,
  span: (i) => spans[i].span,
  isLocal: (i) => spans[i].isLocal,
  isOpen: (i) => spans[i].isOpen,
});

const run = (steps: Iterable<undefined>): void => {
  for (const _ of steps);
};

const begun = (): PerfettoWriter => {
  const writer = new PerfettoWriter();
  writer.process({ name: 'shop', pid: 4711 }, 1_700_000_000_123_456.5, { name: 'snapshot', categories: ['snapshot'] });
  return writer;
};

const written = async (record: (root: ReturnType<typeof recorder>['root']) => void) => {
  const { memory, collector, root } = recorder();
  record(root);
  await collector.flush();
  const writer = begun();
  for (const span of memory.spans) writer.see(shown(span).span);
  for (const { traceId, spans } of memory.traces) run(writer.trace(traceId, all(spans.map((span) => shown(span)))));
  return { memory, ...decodePerfetto(writer.take()) };
};

test('the file begins with its clocks and its process', () => {
  const { clocks, tracks, slices } = decodePerfetto(begun().take());
  const at = '1700000000123456500';
  expect(clocks).toEqual([
    { id: 6, timestamp: at },
    { id: 1, timestamp: at },
  ]);
  expect([...tracks.values()]).toMatchObject([{ process: { pid: 4711, name: 'shop' } }]);
  expect(slices).toMatchObject([{ name: 'snapshot', isInstant: true, startNs: 1_700_000_000_123_456_500n }]);
});

test('every span is a slice with its times, its ids and its properties', async () => {
  const { memory, tracks, slices } = await written((root) => {
    const top = root('GET /', undefined, { kind: 'server' });
    top.addProperties({ text: 'ä "quoted"', int: -5, large: 2 ** 53 - 1, half: 0.5, yes: true, list: ['a', 'b'] });
    top.run(() => {
      const local = LocalSpan.start('parse');
      LocalSpan.start('inner').end();
      local.end();
    });
    const child = Span.start('query', top);
    child.setStatus('error', 'no such table');
    child.addEvent('retry', { attempt: 2 });
    child.end();
    top.end();
  });
  const [, ...all] = slices;
  expect(all.filter(({ isInstant }) => !isInstant)).toHaveLength(memory.spans.length);
  for (const record of memory.spans) {
    const slice = all.find(({ args }) => args['span.id'] === record.spanId);
    expect(slice).toMatchObject({ name: record.name, startNs: record.startUnixNs, endNs: record.endUnixNs });
    if (record.parentSpanId !== '') expect(slice?.args['parent.id']).toBe(record.parentSpanId);
  }
  const of = (name: string) => all.find((one) => one.name === name);
  expect(of('GET /')?.args).toMatchObject({
    text: 'ä "quoted"',
    int: -5n,
    large: BigInt(2 ** 53 - 1),
    half: 0.5,
    yes: true,
    list: ['a', 'b'],
  });
  expect(of('GET /')?.categories).toEqual(['server']);
  expect(of('parse')?.categories).toEqual(['local']);
  expect(of('inner')?.parent).toBe(of('parse'));
  expect(of('parse')?.parent).toBe(of('GET /'));
  expect(of('query')).toMatchObject({
    categories: ['internal', 'error'],
    args: { status: 'error', 'status.message': 'no such table' },
  });
  expect(of('retry')).toMatchObject({ isInstant: true, args: { attempt: 2n }, track: of('query')?.track });
  const [trace] = memory.traces;
  const process = [...tracks.values()][0];
  expect(tracks.get(of('GET /')?.track ?? '')).toMatchObject({ name: `GET / ${trace.traceId}`, parent: process.uuid });
});

test('spans that overlap are on tracks below the track of their trace', async () => {
  const { tracks, slices } = await written((root) => {
    const top = root('top');
    const some = [1, 2, 3].map((i) => Span.start(`child ${i}`, top));
    for (const one of some) one.end();
    top.end();
  });
  const [, top, ...children] = slices;
  expect(new Set(children.map(({ track }) => track)).size).toBe(3);
  expect(children.map(({ depth }) => depth)).toEqual([0, 0, 0]);
  for (const { track } of children) expect(tracks.get(track)?.parent).toBe(top.track);
});

test('a link is an arrow that both spans know, in whatever trace they are', async () => {
  const { slices } = await written((root) => {
    const cause = root('cause');
    const others = [root('one'), root('two')];
    for (const other of others) {
      if (cause.context !== undefined) other.addLink(cause.context);
      other.end();
    }
    cause.end();
    root('nothing').end();
  });
  const flowsOf = (name: string) => slices.find((one) => one.name === name)?.flows ?? [];
  expect(flowsOf('cause')).toHaveLength(2);
  expect([...flowsOf('one'), ...flowsOf('two')].sort()).toEqual([...flowsOf('cause')].sort());
  expect(flowsOf('nothing')).toEqual([]);
});

test('a span that is open is begun and does not end', async () => {
  const { memory, collector, root } = recorder();
  const top = root('top');
  Span.start('done', top).end();
  Span.start('waits', top).end();
  top.end();
  await collector.flush();
  const writer = begun();
  const spans = memory.spans.map((record) => shown(record, record.name !== 'done'));
  run(writer.trace(memory.spans[0].traceId, all(spans)));
  const { slices } = decodePerfetto(writer.take());
  expect(slices.filter(({ endNs, isInstant }) => endNs === undefined && !isInstant).map(({ name }) => name)).toEqual([
    'top',
    'waits',
  ]);
  expect(slices.find(({ name }) => name === 'done')?.endNs).toBeDefined();
});

test('stretches of the process nest, and are cut where they would not', () => {
  const stretch = (name: string, startUs: number, endUs: number, parts: PerfettoStretch[] = []): PerfettoStretch => ({
    name,
    category: 'busy',
    startUs,
    endUs,
    properties: [['frames', ['parse app.js:12']]],
    parts,
  });
  const writer = begun();
  const inner = [stretch('POST /import', 1000, 1500), stretch('too long', 1400, 2500)];
  run(writer.stretches('event loop', 4711, true, [stretch('busy', 1000, 2000, inner), stretch('next', 1900, 2100)]));
  const { slices, tracks } = decodePerfetto(writer.take());
  const all = slices.filter(({ isInstant }) => !isInstant);
  expect(all.map(({ name, depth, startNs, endNs }) => [name, depth, startNs, endNs])).toEqual([
    ['busy', 0, 1_000_000n, 2_000_000n],
    ['POST /import', 1, 1_000_000n, 1_500_000n],
    ['too long', 1, 1_500_000n, 2_000_000n],
    ['next', 0, 2_000_000n, 2_100_000n],
  ]);
  expect(all[0].args).toEqual({ frames: ['parse app.js:12'] });
  expect(tracks.get(all[0].track)?.thread).toEqual({ pid: 4711, tid: '4711', name: 'event loop' });
});

test('values that Perfetto has no type for are text, and nothing is rounded', () => {
  const span: ArchivedSpan = {
    traceId: 'a'.repeat(32),
    spanId: 'b'.repeat(16),
    parentSpanId: 'c'.repeat(16),
    traceState: '',
    name: 'x'.repeat(5000),
    kind: 'unspecified',
    startUnixNs: 1_600_000_000_000_000_001n,
    endUnixNs: 1_600_000_000_000_000_001n,
    status: { code: 'ok', message: '' },
    properties: {
      whole: new ArchivedDouble(2),
      beyond: 2n ** 70n,
      int64: -(2n ** 63n),
      none: null,
      bytes: new Uint8Array([1, 2, 3]),
      map: { a: 1, b: { c: [true] } },
      infinite: Number.POSITIVE_INFINITY,
    },
    events: [],
    links: [],
    resource: RESOURCE,
    scope: OWN_SCOPE,
  };
  const writer = begun();
  run(writer.trace(span.traceId, all([{ span: new ObjectView().of(span), isLocal: false, isOpen: false }])));
  const slice = decodePerfetto(writer.take()).slices[0];
  expect(slice).toMatchObject({ name: span.name, startNs: span.startUnixNs, endNs: span.endUnixNs });
  expect(slice.args).toEqual({
    whole: 2,
    beyond: String(2n ** 70n),
    int64: -(2n ** 63n),
    none: 'null',
    bytes: 'AQID',
    map: { a: 1n, b: { c: [true] } },
    infinite: Number.POSITIVE_INFINITY,
    'span.id': span.spanId,
    'parent.id': span.parentSpanId,
    status: 'ok',
  });
});
