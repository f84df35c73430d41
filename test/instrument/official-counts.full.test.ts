// Versions of libraries without channels have as many spans here as under the official instrumentations, but for what is listed.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { hasRedis, type RedisServer, startRedis } from './db/redis-server.js';
import { installedAs } from './installed-as.js';
import { library } from './libraries.js';
import { instrumentOnly, later, recorded } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;
type Work = (load: NodeJS.Require) => Promise<void>;

/** Names of what the official package makes of `work`, on OpenTelemetry's SDK. */
const officialNames = async (made: (packages: NodeJS.Require) => Untyped, work: () => Promise<void>) => {
  const { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } = library('@opentelemetry/sdk-trace-node');
  const exporter = new InMemorySpanExporter();
  const instrumentation = made(library);
  later(() => instrumentation.disable());
  instrumentation.setTracerProvider(new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  await work();
  instrumentation.disable();
  return exporter.getFinishedSpans().map(({ name }: { name: string }) => name);
};

const countsOf = (names: readonly string[], nameOf: (name: string) => string | undefined) => {
  const counts: Record<string, number> = {};
  for (const name of names.map(nameOf)) if (name !== undefined) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

test.each(['graphql-15', 'graphql-16'])('%s', async (alias) => {
  const work: Work = async (load) => {
    const { buildSchema, execute, graphql, graphqlSync, parse, validate } = load('graphql');
    const schema = buildSchema('type Query { a: Int, b: Int } type Mutation { a: Int }');
    const rootValue = { a: () => 1, b: async () => 2 };
    await graphql({ schema, source: '{ a b }', rootValue });
    await graphql({ schema, source: 'mutation { a }', rootValue });
    await graphql({ schema, source: '{ c }', rootValue });
    graphqlSync({ schema, source: '{ a }', rootValue });
    const document = parse('query Both { a b }');
    validate(schema, document);
    await execute({ schema, document, rootValue });
  };
  const theirs = await officialNames(
    (packages) =>
      new (packages('@opentelemetry/instrumentation-graphql').GraphQLInstrumentation)({ ignoreResolveSpans: true }),
    () => work(installedAs('graphql', alias).require),
  );
  instrumentOnly({ graphql: true });
  // Steps have spans inside of something only, for programs read their schemas: theirs are named otherwise.
  await Span.root('request').runToEnd(() => work(installedAs('graphql', alias).require));
  const ours = (await recorded()).map(({ name }) => name);
  const step = (name: string) =>
    /^graphql\.\w+$/.exec(name)?.[0].replace('parseSchema', 'parse') ?? /^\w+/.exec(name)?.[0];
  expect(countsOf(ours, step)).toEqual({ ...countsOf(theirs, step), request: 1 });
  expect(countsOf(ours, step)).toMatchObject({ query: 3, mutation: 1, 'graphql.validate': 5 });
});

let server: RedisServer | undefined;
beforeAll(async () => {
  if (hasRedis) server = await startRedis();
});
afterAll(() => server?.stop());

test.skipIf(!hasRedis).each(['ioredis-4-0', 'ioredis-4', 'ioredis-5-0', 'ioredis-5-10'])('%s', async (alias) => {
  const work: Work = async (load) => {
    const ioredis = load('ioredis');
    const client = new (ioredis.Redis ?? ioredis)({ port: server?.port, host: '127.0.0.1' });
    // Of a command that waits for the connection they have two.
    await new Promise((resolve) => client.once('ready', resolve));
    await client.set('a', '1');
    await client.get('a');
    await client.incrby('a', 2);
    await client.lpush('a', 'x').catch(() => {});
    await client.pipeline().get('a').get('b').exec();
    await client.multi().get('a').del('a').exec();
    await new Promise((resolve) => client.get('a', resolve));
    await client.quit();
  };
  const theirs = await officialNames(
    (packages) =>
      new (packages('@opentelemetry/instrumentation-ioredis').IORedisInstrumentation)({ requireParentSpan: false }),
    () => work(installedAs('ioredis', alias).require),
  );
  instrumentOnly({ ioredis: { requireParent: false } });
  await work(installedAs('ioredis', alias).require);
  const spans = await recorded();
  const isBatch = (span: (typeof spans)[number]) => span.properties['db.query.text'] === undefined;
  const commands = countsOf(
    spans.filter((span) => !isBatch(span)).map(({ name }) => name),
    (name) => name,
  );
  // They have a span for each connection too, and none for a transaction.
  expect(commands).toEqual(countsOf(theirs, (name) => (name === 'connect' ? undefined : name.toUpperCase())));
  expect(commands).toMatchObject({ SET: 1, GET: 5, MULTI: 1, EXEC: 1, LPUSH: 1, QUIT: 1 });
  expect(spans.filter(isBatch)).toHaveLength(1);
});
