// The same traces in a real Jaeger and in an archive that is served: the same questions get the same answers, field for field.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeJaeger } from '../../../../test/support/jaeger.js';
import { samples } from '../../../../test/support/samples.js';
import { Archive } from '../../src/archive.js';
import { encodeJaegerJson } from '../../src/formats/encode.js';
import { decodeJaegerJson } from '../../src/formats/jaeger-json/read-traces.js';
import {
  AUTH,
  below,
  besideJaeger,
  DB,
  type Json,
  makeTraces,
  NAMES,
  normal,
  one,
  RUN,
  SHOP,
  sorted,
  T0,
  UNNAMED,
} from './support/beside-jaeger.js';

const TRACES = makeTraces(200);
const SEARCHES = samples(300, 300, 3000);

describeJaeger('a served archive beside a real Jaeger', (jaeger) => {
  const { both, bothJson, directory } = besideJaeger(jaeger, TRACES);
  const ids = new Set(TRACES.map(({ traceId }) => traceId));

  test('every trace, field for field', async () => {
    for (const { traceId } of TRACES) {
      const [theirs, ours] = await bothJson(`/api/traces/${traceId}`);
      expect(normal(ours)).toEqual(normal(theirs));
      expect({ ...ours, data: 0 }).toEqual({ ...theirs, data: 0 });
    }
  });

  test('services, operations and dependencies', async () => {
    const [theirs, ours] = await bothJson('/api/services');
    const own = (ours.data as string[]).toSorted();
    expect(own).toEqual([AUTH, DB, SHOP, UNNAMED].sort());
    expect(theirs.data).toEqual(expect.arrayContaining(own));
    expect([ours.total, theirs.total]).toEqual([own.length, (theirs.data as string[]).length]);
    for (const service of [AUTH, DB, SHOP]) {
      for (const path of [`/api/services/${service}/operations`, `/api/operations?service=${service}`]) {
        const [wanted, got] = await bothJson(path);
        expect(sorted(got.data)).toEqual(sorted(wanted.data));
      }
      const [v3Theirs, v3Ours] = await bothJson(`/api/v3/operations?service=${service}`);
      expect(sorted(v3Ours.operations)).toEqual(sorted(v3Theirs.operations));
    }
    const [wanted, got] = await bothJson(`/api/services/${UNNAMED}/operations`);
    expect(wanted.data).toEqual(expect.arrayContaining(got.data as string[]));
    const now = Date.now();
    for (const query of [
      '',
      `?endTs=${now}&lookback=86400000`,
      `?endTs=${now}&lookback=3550000&service=${DB}`,
      '?endTs=5',
    ]) {
      const [wanted, got] = await bothJson(`/api/dependencies${query}`);
      // Those between services without a name are of everybody.
      const ofOurs = ({ data }: Json): unknown[] =>
        ((data ?? []) as { parent: string; child: string }[]).filter(({ parent, child }) =>
          `${parent} ${child}`.includes(RUN),
        );
      expect(sorted(ofOurs(got))).toEqual(sorted(ofOurs(wanted)));
      expect({ ...got, data: 0 }).toEqual({ ...wanted, data: 0 });
    }
  });

  test(`the same traces are found by ${SEARCHES} searches`, { timeout: 600_000 }, async () => {
    const micros = (): string => String(T0 / 1000n + BigInt(below(200_000_000)));
    const parts: readonly (() => string)[] = [
      () => `operation=${encodeURIComponent(one(NAMES))}`,
      () => `minDuration=${one(['1ms', '3ms', '6.5ms', '1h'])}`,
      () => `maxDuration=${one(['200us', '2ms', '4ms'])}`,
      () => `start=${micros()}`,
      () => `end=${T0 / 1000n + 200_000_000n + BigInt(below(9))}`,
      () =>
        `tag=${encodeURIComponent(one(['user:ada', 'rows:42', 'hit:true', 'user:', 'rows:1.5', 'rows:9007199254740993']))}`,
      () =>
        `tags=${encodeURIComponent(one(['{"user":"alan"}', '{"hit":"false","user":"ada"}', '{"host.name":"ada"}']))}`,
      () =>
        `tag=${encodeURIComponent(one(['host.name:["a",2,true]', 'rows:{"a":1,"z":"\\u003c\\u0026\\u003e"}', 'ip:AAH+/w==']))}`,
      () => `tag=${encodeURIComponent(one([`service.name:${DB}`, 'user:5e-324', 'rows:1e+300', 'rows:1e-7']))}`,
    ];
    let found = 0;
    for (let i = 0; i < SEARCHES; i++) {
      const some = [...new Set([one(parts), one(parts), one(parts)])].map((part) => part());
      const end = some.some((part) => part.includes('end=')) ? [] : [`end=${T0 / 1000n + 7_200_000_000n}`];
      const query = [`service=${one([SHOP, AUTH, DB, UNNAMED, `nobody-${RUN}`])}`, ...some, ...end, 'limit=1000'];
      const [theirs, ours] = await bothJson(`/api/traces?${query.join('&')}`);
      // Jaeger's ids have no zeros in front.
      const own = ({ data }: Json): string[] =>
        ((data ?? []) as { traceID: string }[])
          .map(({ traceID }) => traceID)
          .filter((id) => ids.has(id.padStart(32, '0')))
          .sort();
      expect({ query, ids: own(ours) }).toEqual({ query, ids: own(theirs) });
      found += own(ours).length;
    }
    expect(found).toBeGreaterThan(SEARCHES);
  });

  test.each([
    ...['/api/traces/0', '/api/traces/00', '/api/traces/xyz', `/api/traces/${RUN}0f`, `/api/traces/${'1'.repeat(33)}`],
    ...[
      '/api/v3/traces/0',
      '/api/v3/traces/xyz',
      '/api/v3/traces',
      `/api/v3/traces?query.service_name=${DB}`,
      '/api/traces',
    ],
    ...[`/api/traces?service=${DB}&minDuration=x`, `/api/traces?service=${DB}&tag=x`, '/api/dependencies?endTs=x'],
    ...[`/api/traces?service=${DB}&minDuration=2s&maxDuration=1s`, '/api/operations', '/api/dependencies?lookback=1d'],
  ])('the same status: %s', async (path) => {
    const [theirs, ours] = await both(path);
    expect(ours.status).toBe(theirs.status);
  });

  test('traces that are not there are named alike', async () => {
    const [theirs, ours] = await bothJson(`/api/traces?traceID=0&traceID=${RUN}0e&traceID=${RUN.repeat(4)}`);
    expect(ours).toEqual(theirs);
  });

  test('what Jaeger answers is imported, exported, identical', async () => {
    const asked = TRACES.map(({ traceId }) => `traceID=${traceId}`);
    const document = await (await fetch(`${jaeger().queryUrl}/api/traces?${asked.join('&')}`)).text();
    const { spans, refused } = decodeJaegerJson(Buffer.from(document));
    expect(refused).toBe(0);
    const traces = new Map<string, typeof spans>();
    for (const span of spans) traces.set(span.traceId, [...(traces.get(span.traceId) ?? []), span]);
    expect(JSON.parse(encodeJaegerJson(traces))).toEqual(JSON.parse(document));

    // And by way of an archive on disk, which has its own order of spans.
    const other = await Archive.open(join(directory(), 'other'));
    other.append(spans);
    await other.seal();
    const kept = await other.traces([...traces.keys()]);
    await other.close();
    expect(normal(JSON.parse(encodeJaegerJson(kept)))).toEqual(normal(JSON.parse(document)));
  });
});
