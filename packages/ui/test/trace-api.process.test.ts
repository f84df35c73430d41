// Answers about one trace: its columns against the archive's spans, what is kept of it between questions, what is found in it, links in both
// directions, the timelines of its processes, and the files of others.
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { decodePerfetto } from '../../../test/formats/support/perfetto-decode.js';
import { scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import { span, spanIdOf, traceIdOf } from '../../archive/test/segment/support/segments.js';
import type { FindAnswer, LinkedFromAnswer, SpanAnswer, TraceAnswer } from '../src/api/trace/answers.js';
import { TraceReads, traceColumns } from '../src/api/trace/trace-reads.js';
import {
  ABSENT,
  ABSENT_SPAN,
  CART,
  idOf,
  JOB,
  LINKING,
  makeCart,
  QUERY,
  RENDER,
  REPORT,
  SELECT,
} from './support/cart.js';
import { useServer } from './support/served.js';

const dir = scratch();
const serve = useServer();
let archive: Archive;
let url: string;

beforeAll(async () => {
  await makeCart(dir);
  archive = await Archive.open(dir, { readOnly: true });
  url = await serve({ archive });
});
afterAll(() => archive.close());

const fetched = (path: string, query: Record<string, string>): Promise<Response> =>
  fetch(`${url}/api/${path}?${new URLSearchParams(query)}`);
const ask = async <T>(path: string, query: Record<string, string>): Promise<T> => {
  const response = await fetched(path, query);
  const body = (await response.json()) as T;
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
};
const cart = (): Promise<TraceAnswer> => ask('trace', { id: CART });
const placeOf = ({ spans }: TraceAnswer, id: string): number => spans.ids.indexOf(id);

describe('columns', () => {
  test('each span once below its parent, with self time and critical path', async () => {
    const { spans, names, services, durationUs, startUnixUs } = await cart();
    expect([durationUs, startUnixUs]).toEqual([100_000, 1_760_000_000_000_000]);
    expect(spans.ids.map((_, i) => [names[spans.name[i]], services[spans.service[i]], spans.parent[i]])).toEqual([
      ['GET /cart', 'shop', -1],
      ['parse', 'shop', 0],
      ['query', 'shop', 0],
      ['SELECT', 'db', 2],
      ['render', 'shop', 0],
    ]);
    expect(spans.startUs).toEqual([0, 0, 10_000, 15_000, 60_000]);
    expect(spans.durationUs).toEqual([100_000, 10_000, 50_000, 40_000, 35_000]);
    expect(spans.selfUs).toEqual([5000, 10_000, 10_000, 40_000, 35_000]);
    expect(spans.isCritical).toEqual([1, 1, 1, 1, 1]);
    expect(spans.isError).toEqual([0, 0, 0, 0, 1]);
  });

  test('of equal ids the last span is the one', async () => {
    const [first, last] = ['first', 'last'].map((name) => span({ name }));
    const { spans, names } = traceColumns([first, last]);
    expect([spans.ids.length, names]).toEqual([1, ['last']]);
  });

  test('more than 100,000 spans are cut, and said', () => {
    const many = Array.from({ length: 100_003 }, (_, i) =>
      span({ spanId: spanIdOf(i + 1), parentSpanId: i === 0 ? '' : spanIdOf(1) }),
    );
    const { spans, leftOut } = traceColumns(many);
    expect([spans.ids.length, leftOut]).toEqual([100_000, 3]);
  });
});

describe('what is kept', () => {
  test('spans are read once; the trace itself is read anew', async () => {
    const reads = vi.spyOn(archive, 'trace');
    onTestFinished(() => reads.mockRestore());
    const { spans } = await cart();
    for (const id of spans.ids) expect((await ask<SpanAnswer>('trace/span', { id: CART, span: id })).spanId).toBe(id);
    await ask('trace/find', { id: CART, text: 'render' });
    expect(reads).toHaveBeenCalledTimes(1);
    await cart();
    expect(reads).toHaveBeenCalledTimes(2);
  });

  test('a span is told without its trace having been asked for', async () => {
    const fresh = await serve({ archive });
    const response = await fetch(`${fresh}/api/trace/span?id=${CART}&span=${RENDER}`);
    expect(((await response.json()) as SpanAnswer).name).toBe('render');
  });

  test('so many spans are kept, those of the trace asked for last in any case', async () => {
    const reads = vi.spyOn(archive, 'trace');
    onTestFinished(() => reads.mockRestore());
    const { signal } = new AbortController();
    // CART has five spans, the others two each.
    const kept = new TraceReads(7);
    const known = async (...ids: string[]): Promise<void> => {
      for (const id of ids) await kept.known(archive, id, signal);
    };
    await known(CART, REPORT, CART);
    expect(reads).toHaveBeenCalledTimes(2);
    await known(JOB, CART);
    expect(reads).toHaveBeenCalledTimes(3);
    await known(REPORT);
    expect(reads).toHaveBeenCalledTimes(4);
    const none = new TraceReads(0);
    await none.known(archive, CART, signal);
    await none.known(archive, CART, signal);
    expect(reads).toHaveBeenCalledTimes(5);
  });
});

describe('a span', () => {
  test('says what it has, a long value up to a bound', async () => {
    const { properties, events, links, status, breakdown } = await ask<SpanAnswer>('trace/span', {
      id: CART,
      span: RENDER,
    });
    expect(properties[0]).toEqual(['app.user', 'Ada Lovelace']);
    expect(properties[1][1]).toMatch(/^x{20000} … and 5000 characters more$/);
    expect(events).toEqual([{ name: 'cache miss', atUs: 5000, properties: [['cache.key', 'cart-7']] }]);
    expect(links.map(({ traceId }) => traceId)).toEqual([REPORT, ABSENT, CART]);
    expect(status).toBe('error: the template is broken');
    expect(breakdown?.durationUs).toBe(35_000);
  });

  test('that is not there is said to be absent', async () => {
    await expect(ask('trace/span', { id: CART, span: ABSENT_SPAN })).rejects.toThrow(/^404 .*the trace has no span/);
    await expect(ask('trace', { id: ABSENT })).rejects.toThrow(/^404 .*there is no trace/);
  });
});

test.each([
  ['a name', 'SELE', [SELECT]],
  ['a property', 'ada love', [RENDER]],
  ['a property with its key', 'app.user=Ada', [RENDER]],
  ['a message', 'template is', [RENDER]],
  ['an event', 'cache m', [RENDER]],
  ['a property of an event', 'cart-7', [RENDER]],
  ['a span id', QUERY, [QUERY]],
  ['nothing', 'no such text', []],
])('finding by %s', async (_, text, ids) => {
  const trace = await cart();
  const { places } = await ask<FindAnswer>('trace/find', { id: CART, text });
  expect(places.map((place) => trace.spans.ids[place])).toEqual(ids);
});

test('links go out to other traces, to absent ones and within the trace', async () => {
  const trace = await cart();
  const from = placeOf(trace, RENDER);
  expect(trace.links).toEqual([
    { from, traceId: REPORT, spanId: idOf(10) },
    { from, traceId: ABSENT, spanId: ABSENT_SPAN },
    { from, traceId: CART, spanId: QUERY },
  ]);
  expect(trace.linksLeftOut).toBe(0);
});

test('links come in from other traces, to absent spans too', async () => {
  const { links, isFull } = await ask<LinkedFromAnswer>('trace/linked', { id: CART });
  const job = { traceId: JOB, name: 'job', startUs: 1_760_000_000_200_000, spanId: LINKING, spanName: 'mail' };
  expect(links).toEqual([
    { ...job, to: QUERY },
    { ...job, to: ABSENT_SPAN },
  ]);
  expect(isFull).toBe(false);
  expect((await ask<LinkedFromAnswer>('trace/linked', { id: JOB })).links).toEqual([]);
});

test('more links than are told are said', async () => {
  const own = await Archive.open(scratch());
  onTestFinished(() => own.close());
  const target = traceIdOf(1);
  own.append([span({ traceId: target })]);
  const links = [{ traceId: target, spanId: spanIdOf(1), traceState: '', properties: {} }];
  own.append(Array.from({ length: 60 }, (_, i) => span({ traceId: traceIdOf(i + 2), spanId: spanIdOf(i + 2), links })));
  const at = await serve({ archive: own });
  const found = (await (await fetch(`${at}/api/trace/linked?id=${target}`)).json()) as LinkedFromAnswer;
  expect([found.links.length, found.isFull]).toEqual([50, true]);
});

test('each process has its timeline, with who had the loop', async () => {
  const { timelines, breakdowns } = await cart();
  expect(timelines.map(({ process, stretches, leftOut }) => [process, stretches.length, leftOut])).toEqual(
    expect.arrayContaining([
      ['shop 4711', 4, 0],
      ['db 4712', 1, 0],
    ]),
  );
  const [busy, narrow, gc, pool] = timelines.find(({ process }) => process === 'shop 4711')?.stretches ?? [];
  expect(busy).toMatchObject({ kind: 'busy', startUs: 22_000, durationUs: 26_000 });
  expect(busy.holders).toEqual([{ name: 'build report', traceId: REPORT, us: 26_000 }]);
  expect(narrow.holders).toMatchObject([{ name: 'tick timers.js:3', traceId: '' }]);
  expect(gc).toMatchObject({ kind: 'gc', detail: 'scavenge', durationUs: 2000 });
  expect(pool).toMatchObject({ kind: 'pool', detail: 'crypto.pbkdf2 16', durationUs: 10_000 });
  expect(breakdowns[0].poolWaits).toEqual([{ requests: 'crypto.pbkdf2 16', us: 10_000 }]);
  expect(breakdowns[0].others).toMatchObject([{ traceId: REPORT, us: 26_000 }]);
});

describe('files', () => {
  test('for Jaeger UI and as OTLP', async () => {
    const jaeger = await ask<{ data: { traceID: string; spans: unknown[] }[] }>('trace/file', {
      id: CART,
      format: 'jaeger',
    });
    expect([jaeger.data[0].traceID, jaeger.data[0].spans.length]).toEqual([CART, 5]);
    const otlp = await ask<{ resourceSpans: unknown[] }>('trace/file', { id: CART, format: 'otlp' });
    expect(otlp.resourceSpans).toHaveLength(2);
    expect((await fetched('trace/file', { id: CART, format: 'toString' })).status).toBe(400);
  });

  test('for Perfetto: a track for each process, its timeline, and slices at their times', async () => {
    const bytes = Buffer.from(await (await fetched('trace/file', { id: CART, format: 'perfetto' })).arrayBuffer());
    const { tracks, slices, clocks } = decodePerfetto(bytes);
    const processes = [...tracks.values()].filter(({ process }) => process !== undefined);
    expect(processes.map(({ process }) => process)).toMatchObject([
      { pid: 4711, name: 'shop' },
      { pid: 4712, name: 'db' },
    ]);
    expect(clocks).toHaveLength(2);
    const slice = (name: string) => slices.find((one) => one.name === name);
    const processOfSlice = (name: string): string | undefined => {
      let track = tracks.get(slice(name)?.track ?? '');
      while (track?.parent !== undefined && track.process === undefined) track = tracks.get(track.parent);
      return track?.process?.name;
    };
    for (const one of await archive.trace(CART))
      expect(slice(one.name)).toMatchObject({ startNs: one.startUnixNs, endNs: one.endUnixNs });
    expect(
      ['GET /cart', 'SELECT', 'build report', 'scavenge', 'crypto.pbkdf2 16', 'mark-compact'].map(processOfSlice),
    ).toEqual(['shop', 'db', 'shop', 'shop', 'shop', 'db']);
  });
});
