// The matrix of applications sees a request that is not one tree, a span that is in the trace of another request, and calls that are missing.
import { describe, expect, test } from 'vitest';

const of = (path: string) => new URL(`../../bench/applications/${path}`, import.meta.url);
// Plain JavaScript without types.
const { countsOf, mixedOf, spansIn, treesOf } = await import(of('traces.mjs').href);
const { aboveOf, worseOf } = await import(of('rows.mjs').href);

const OTHERS = '@opentelemetry/instrumentation-';

/** A span as OTLP has it in JSON; `id`: of the request that it answers. */
const span = (traceId: string, spanId: string, parentSpanId: string, name: string, id?: string) => ({
  traceId,
  spanId,
  parentSpanId,
  name,
  kind: id === undefined ? 3 : 2,
  attributes: id === undefined ? [] : [{ key: 'user_agent.original', value: { stringValue: id } }],
});

const received = (...spans: object[]) =>
  spansIn({ resourceSpans: [{ scopeSpans: [{ scope: { name: `${OTHERS}pg` }, spans }] }] });

const answer = (trace: string, id: string, ...names: string[]) => [
  span(trace, `${trace}0`, '', 'GET', id),
  ...names.map((name, i) => span(trace, `${trace}${i + 1}`, `${trace}0`, name)),
];

describe('traces', () => {
  test('a request is one tree when all its spans hang from its root', () => {
    const trees = treesOf(
      received(
        ...answer('a', 'bench-1', 'SELECT'),
        // Without its root, twice the same request, and two requests in one trace.
        ...answer('b', 'bench-2').map((one) => ({ ...one, parentSpanId: 'gone' })),
        ...answer('c', 'bench-3'),
        ...answer('d', 'bench-3'),
        ...answer('e', 'bench-4'),
        span('e', 'e9', 'e0', 'GET', 'bench-5'),
      ),
    );
    expect([...trees]).toEqual([
      ['bench-1', 'server pg GET(client pg SELECT())'],
      ['bench-2', undefined],
      ['bench-3', undefined],
      ['bench-4', undefined],
      ['bench-5', undefined],
    ]);
  });

  test('a span in the trace of another request makes both mixed, waiting for a connection none', () => {
    const trees = treesOf(
      received(
        ...answer('a', 'bench-1', 'SELECT'),
        ...answer('b', 'bench-2', 'INSERT'),
        ...answer('c', 'bench-3', 'pg-pool.connect', 'SELECT'),
        ...answer('d', 'bench-4', 'SELECT', 'INSERT'),
        ...answer('e', 'bench-5'),
      ),
    );
    const asked = (id: string, what: string) => ({ id: `bench-${id}`, asked: what });
    const alone = [asked('1', 'read'), asked('2', 'write')];
    const many = [asked('3', 'read'), asked('4', 'read'), asked('5', 'write')];
    const mixed = mixedOf(trees, many, alone).map((one: { asked: string }) => one.asked);
    expect(mixed).toEqual(['read', 'write']);
  });

  test('counts are of the requests asked about, and of what is linked to them', () => {
    const job = { ...span('z', 'z0', '', 'process'), kind: 5, links: [{ traceId: 'a' }] };
    const spans = received(
      ...answer('a', 'bench-1', 'GET /connect/7', 'pg.connect'),
      ...answer('b', 'bench-2', 'SELECT'),
      job,
    );
    expect(countsOf(spans, ['bench-1'])).toEqual({ pg: { calls: 3, internal: 0, waits: 1 } });
  });
});

test('a row says in which of the first columns ours is worse', () => {
  const way = {
    isStarted: true,
    isSame: true,
    requests: 5,
    trees: 5,
    mixed: 0,
    spans: { pg: { calls: 4, internal: 0, waits: 0 } },
  };
  const row = (ours: object) => ({ name: 'shop', official: way, spanline: { ...way, ...ours } });
  expect(worseOf(row({}))).toEqual([]);
  const ours = { isSame: false, trees: 4, mixed: 1, spans: {} };
  expect(worseOf(row(ours))).toEqual([
    'shop: other answers',
    'shop: 1 requests are not one tree',
    'shop: 1 traces are mixed',
    'shop: pg has 0 calls, 4 theirs',
  ]);
});

test('a row says where ours adds more than its share of what official adds', () => {
  const row = (addedUs: number, rssMb: number) => ({
    name: 'shop',
    untraced: { rssMb: 100 },
    official: { addedUs: 80, rssMb: 300 },
    spanline: { addedUs, rssMb },
  });
  expect(aboveOf(row(20, 200))).toEqual([]);
  expect(aboveOf(row(21, 201))).toEqual(['shop: CPU 21, not 20 µs', 'shop: rss 101, not 100 MB']);
  // What is little in itself, however little official adds.
  expect(aboveOf({ ...row(10, 140), official: { addedUs: 5, rssMb: 110 } })).toEqual([]);
});
