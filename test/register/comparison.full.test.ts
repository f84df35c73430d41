// Two services under `spanline/register` give the trees that they give under OpenTelemetry's SDK with the official instrumentations, field by
// field, but for what the table below lists.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { hasPostgres, type Postgres, startPostgres } from '../instrument/db/postgres.js';
import { hasRedis, type RedisServer, startRedis } from '../instrument/db/redis-server.js';
import { buildFirst } from '../support/built.js';
import { isKnown, isTheirsAlone, lineOf, TABLE, THEIRS_ALONE } from './comparison/table.js';
import { service, tracedBy, tracedTo } from './support/official.js';
import { startService } from './support/service.js';
import { differences, outline, type SpanTree, spansOf, treesOf, without } from './support/span-trees.js';

buildFirst();

let postgres: Postgres;
let redis: RedisServer;
/** The same for both, so that addresses are comparable. */
let ports: { readonly shop: number; readonly depot: number; readonly nobody: number };

beforeAll(async () => {
  if (!hasPostgres || !hasRedis) return;
  postgres = await startPostgres();
  redis = await startRedis();
  ports = { shop: await freePort(), depot: await freePort(), nobody: await freePort() };
}, 60_000);
afterAll(async () => {
  await postgres?.stop();
  await redis?.stop();
});

const REQUESTS: readonly (readonly [service: 'shop' | 'depot', path: string, init?: RequestInit])[] = [
  ['shop', '/plain?a=1&b=2'],
  ['shop', '/either'],
  ['shop', '/expression'],
  ['shop', '/orders/7'],
  ['shop', '/tables'],
  ['shop', '/broken-query'],
  ['shop', '/wrong-type'],
  ['shop', '/refused'],
  ['shop', '/gone'],
  ['shop', '/throws'],
  ['shop', '/nowhere'],
  ['shop', '/orders', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":7}' }],
  ['depot', '/refused'],
  ['depot', '/given-up'],
  ['depot', '/throws'],
  ['depot', '/nowhere'],
];

const ORDER = `server GET /orders/:id
  client SELECT
  client GET
  client GET
    server GET /stock/:id
      client GET
      client GET
        server GET /prices/:id`;

/** Both services with `execArgv`, asked one after another; the tree of each request, by its path. */
const treesUnder = async (execArgv: readonly string[]): Promise<Map<string, SpanTree>> => {
  const sink = await startServer();
  const env = {
    ...tracedTo(sink.url),
    POSTGRES: postgres.host,
    REDIS: String(redis.port),
    DEPOT: `http://127.0.0.1:${ports.depot}`,
    NOBODY: String(ports.nobody),
  };
  const start = (name: string, port: number) =>
    startService(service(name), { execArgv, env: { ...env, PORT: String(port), OTEL_SERVICE_NAME: name } });
  const depot = await start('depot.mjs', ports.depot);
  const shop = await start('shop.cjs', ports.shop);
  try {
    for (const [asked, path, init] of REQUESTS) {
      const answer = await fetch(`http://127.0.0.1:${ports[asked]}${path}`, init);
      await answer.text();
    }
  } finally {
    // At once: what is under way is delivered at the end.
    await shop.stop();
    await depot.stop();
    await sink.close();
  }
  const trees = treesOf(sink.requests.flatMap(({ body }) => decodeSpans(body)));
  return new Map(
    trees.flatMap((tree) => {
      const { 'url.path': path, 'server.port': port } = tree.attributes;
      return tree.kind === 'server' ? [[`${port} ${path}`, tree]] : [];
    }),
  );
};

describe.skipIf(!hasPostgres || !hasRedis)('against the official instrumentations', () => {
  let ours: Map<string, SpanTree>;
  let official: Map<string, SpanTree>;
  beforeAll(async () => {
    ours = await treesUnder(tracedBy.spanline());
    official = await treesUnder(tracedBy.official());
  }, 120_000);

  const compared = () =>
    [...official].flatMap(([path, tree]) => {
      const mine = ours.get(path);
      return mine === undefined
        ? []
        : differences(mine, without(tree, isTheirsAlone)).map((difference) => ({ path, ...difference }));
    });

  test('the same requests', () => {
    expect([...ours.keys()].sort()).toEqual([...official.keys()].sort());
    expect(ours.size).toBe(REQUESTS.length);
  });

  test('the same spans below one another, but for those that are theirs alone', () => {
    const named = (trees: Map<string, SpanTree>): string[] =>
      [...trees].map(([path, tree]) => `${path}\n${outline(without(tree, isTheirsAlone), false)}`);
    expect(named(ours)).toEqual(named(official));
    // A tree over both services and all libraries.
    expect(outline(ours.get(`int ${ports.shop} "/orders/7"`) as SpanTree)).toBe(ORDER);
  });

  test('fields differ as the table says, and no others', () => {
    expect(compared().filter((difference) => !isKnown(difference))).toEqual([]);
  });

  test('every line of the tables is needed', () => {
    const found = new Set(compared().map(lineOf));
    expect(TABLE.filter(([...line]) => !found.has(line.slice(0, 4).join(' ')))).toEqual([]);
    const names = [...official.values()].flatMap((tree) => spansOf(tree).map(({ library, name }) => [library, name]));
    expect(
      THEIRS_ALONE.filter(([library, name]) => !names.some(([of, one]) => of === library && name.test(one))),
    ).toEqual([]);
  });
});
