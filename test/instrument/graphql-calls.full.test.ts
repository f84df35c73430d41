// graphql 16 is traced by functions in place of its own: whoever calls them, however they got at them, gets what graphql gives.
import module from 'node:module';
import { expect, test } from 'vitest';
import { Span, stats } from '../../src/index.js';
import { type InstrumentOptions, instrument } from '../../src/instrument/index.js';
import { installedAs } from './installed-as.js';
import { instrumentOnly, later, recorded } from './support.js';

const SCHEMA = 'type Query { word(n: Int): String } type Subscription { ticks: Int }';
const rootValue = {
  word: async ({ n }: { n: number }) => {
    await null;
    Span.startWithLocalParent(`work ${n}`).end();
    return `word ${n}`;
  },
  async *ticks() {
    for (const ticks of [1, 2, 3]) yield { ticks };
  },
};

const names = async () => (await recorded()).map(({ name }) => name);
const ask = (n: number) => `query Ask${n} { word(n: ${n}) }`;
const quiet = (options: InstrumentOptions['graphql']) => instrument({ ...OTHERS_OFF, graphql: options });
const OTHERS_OFF = { http: false, http2: false, undici: false } as const;

test('by whichever file it is taken from, and nothing once it is off', async () => {
  const { require } = installedAs('graphql', 'graphql-16');
  const deep = require('graphql/execution/execute');
  const { execute } = deep;
  const { disable } = quiet({});
  later(disable);
  const { parse, buildSchema, graphql, graphqlSync, executeSync } = require('graphql');
  const schema = buildSchema(SCHEMA);
  const document = parse('{ word }');
  const sync = { word: () => 'now' };
  expect(deep.execute({ schema, document, rootValue: sync })).toEqual({ data: { word: 'now' } });
  expect(require('graphql/execution').execute).toBe(deep.execute);
  expect(executeSync({ schema, document, rootValue: sync })).toEqual({ data: { word: 'now' } });
  expect(graphqlSync({ schema, source: '{ word }', rootValue: sync })).toEqual({ data: { word: 'now' } });
  await graphql({ schema, source: '{ word(n: 1) }', rootValue });
  expect(await names()).toEqual(['query', 'query', 'query', 'query', 'work 1']);
  // What was taken out before is graphql's own.
  execute({ schema, document, rootValue: sync });
  expect(await names()).toEqual([]);
  disable();
  expect(deep.execute).toBe(execute);
  await graphql({ schema, source: '{ word }', rootValue });
  expect(await names()).toEqual([]);
});

test('functions look as they did, and throw what they throw', async () => {
  const { require } = installedAs('graphql', 'graphql-16');
  const files = ['execution/execute', 'execution/subscribe', 'language/parser', 'validation/validate'];
  const shapes = () =>
    files.map((file) =>
      Object.entries(require(`graphql/${file}`) as Record<string, (...args: never[]) => unknown>).map(
        ([key, value]) => [
          key,
          value.name,
          value.length,
          Reflect.ownKeys(value)
            .filter((own) => own !== 'prototype')
            .map(String)
            .sort(),
        ],
      ),
    );
  const before = shapes();
  instrumentOnly({ graphql: true });
  expect(shapes()).toEqual(before);
  const { execute, buildSchema, parse } = require('graphql');
  const schema = buildSchema(SCHEMA);
  expect(() => execute({ schema })).toThrow('Must provide document');
  expect(() => execute(schema, parse('{ word }'))).toThrow('dropped long-deprecated support');
  expect(() => execute()).toThrow(TypeError);
  expect(() => parse('{')).toThrow('Syntax Error');
  expect((await recorded()).map(({ name, status }) => [name, status.code])).toEqual([['query', 'error']]);
});

test('a function that was imported is traced by whatever is on', async () => {
  const { import: load } = installedAs('graphql', 'graphql-16');
  const first = quiet({});
  later(first.disable);
  const { graphql, buildSchema } = await load('graphql');
  const schema = buildSchema(SCHEMA);
  const second = quiet({ operationNames: true });
  await graphql({ schema, source: ask(1), rootValue });
  expect(await names()).toEqual(['query Ask1', 'work 1']);
  second.disable();
  await graphql({ schema, source: ask(2), rootValue });
  expect(await names()).toEqual(['query', 'work 2']);
  first.disable();
  await graphql({ schema, source: ask(3), rootValue });
  expect(await names()).toEqual([]);
  later(quiet({}).disable);
  await graphql({ schema, source: ask(4), rootValue });
  expect(await names()).toEqual(['query', 'work 4']);
});

test('what a program has put around ours stays, and an operation is one span', async () => {
  const { require } = installedAs('graphql', 'graphql-16');
  const file = require('graphql/execution/execute');
  const { graphql, buildSchema } = require('graphql');
  const schema = buildSchema(SCHEMA);
  const original = file.execute;
  let calls = 0;
  const first = quiet({});
  const inner = file.execute;
  const around = (...args: unknown[]) => {
    calls++;
    return inner(...args);
  };
  file.execute = around;
  first.disable();
  expect(file.execute).toBe(around);
  await graphql({ schema, source: ask(1), rootValue });
  expect(await names()).toEqual([]);
  const second = quiet({});
  later(second.disable);
  await graphql({ schema, source: ask(2), rootValue });
  expect(await names()).toEqual(['query', 'work 2']);
  expect(calls).toBe(2);
  second.disable();
  expect(file.execute).toBe(around);
  file.execute = original;
});

test('a subscription is one span, however many events come', async () => {
  const { require } = installedAs('graphql', 'graphql-16');
  instrumentOnly({ graphql: true });
  const { subscribe, buildSchema, parse } = require('graphql');
  const schema = buildSchema(SCHEMA);
  const stream = await subscribe({ schema, document: parse('subscription { ticks }'), rootValue });
  const events = [];
  for await (const { data } of stream) events.push(data.ticks);
  expect(events).toEqual([1, 2, 3]);
  expect(await names()).toEqual(['subscription']);
  const failed = subscribe({ schema, document: parse('subscription { ticks }'), rootValue: {} });
  await expect(failed).rejects.toThrow('must return Async Iterable');
  expect(await recorded()).toMatchObject([{ name: 'subscription', status: { code: 'error' } }]);
});

test('resolvers are traced where asked for, give what they give, and are inert when it is off', async () => {
  const { require } = installedAs('graphql', 'graphql-16');
  const { GraphQLObjectType, GraphQLSchema, GraphQLString, graphql, graphqlSync } = require('graphql');
  const fields = {
    now: { type: GraphQLString, resolve: () => 'now' },
    later: { type: GraphQLString, resolve: async () => 'later' },
    refused: {
      type: GraphQLString,
      resolve: () => {
        throw new RangeError('no');
      },
    },
  };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields }) });
  const on = quiet({ resolve: true });
  later(on.disable);
  expect(graphqlSync({ schema, source: '{ now }' })).toEqual({ data: { now: 'now' } });
  const { data, errors } = await graphql({ schema, source: '{ now other: later refused __typename }' });
  expect({ ...data }).toEqual({ now: 'now', other: 'later', refused: null, __typename: 'Query' });
  expect(errors).toHaveLength(1);
  const spans = await recorded();
  expect(spans.map(({ name, status, properties }) => [name, status.code, properties['graphql.field.path']])).toEqual([
    ['query', 'unset', undefined],
    ['graphql.resolve Query.now', 'unset', 'now'],
    ['query', 'error', undefined],
    ['graphql.resolve Query.now', 'unset', 'now'],
    ['graphql.resolve Query.later', 'unset', 'other'],
    ['graphql.resolve Query.refused', 'error', 'refused'],
  ]);
  on.disable();
  later(quiet({}).disable);
  await graphql({ schema, source: '{ now later }' });
  expect(await names()).toEqual(['query']);
});

test('sixteen at once, each in its own trace', async () => {
  const { require } = installedAs('graphql', 'graphql-16');
  instrumentOnly({ graphql: true });
  const { graphql, buildSchema } = require('graphql');
  const schema = buildSchema(SCHEMA);
  const before = stats().instrumentationErrors;
  await Promise.all(
    Array.from({ length: 16 }, (_, n) =>
      Span.root(`request ${n}`).runToEnd(() => graphql({ schema, source: ask(n), rootValue })),
    ),
  );
  const spans = await recorded();
  const ids = [...new Set(spans.map(({ traceId }) => traceId))];
  expect(ids).toHaveLength(16);
  for (const id of ids) {
    const trace = spans.filter(({ traceId }) => traceId === id);
    const n = trace[0].name.split(' ')[1];
    expect(
      trace.map(({ name, parentSpanId }) => [name, trace.find(({ spanId }) => spanId === parentSpanId)?.name]),
    ).toEqual([
      [`request ${n}`, undefined],
      ['graphql.parse', `request ${n}`],
      ['graphql.validate', `request ${n}`],
      ['query', `request ${n}`],
      [`work ${n}`, 'query'],
    ]);
    expect(trace[3].properties['graphql.operation.name']).toBe(`Ask${n}`);
  }
  expect(stats().instrumentationErrors).toBe(before);
});

// The hooks that see ES modules are newer than Node 20.
test.each(['require', ...('registerHooks' in module ? ['import'] : [])])(
  'operations that graphql-yoga executes, by %s',
  async (way) => {
    const { require, import: load } = installedAs('graphql', 'graphql-16', ['@graphql-tools/executor']);
    const get = (name: string) => (way === 'import' ? load(name) : require(name));
    const first = quiet({});
    later(first.disable);
    const { normalizedExecutor, executeSync } = await get('@graphql-tools/executor');
    const { buildSchema, parse } = await get('graphql');
    const schema = buildSchema(SCHEMA);
    const document = parse(ask(1));
    expect(await normalizedExecutor({ schema, document, rootValue })).toEqual({ data: { word: 'word 1' } });
    executeSync({ schema, document, rootValue: {} });
    const events = [];
    const stream = await normalizedExecutor({ schema, document: parse('subscription { ticks }'), rootValue });
    for await (const { data } of stream) events.push(data.ticks);
    expect(events).toEqual([1, 2, 3]);
    expect(await names()).toEqual(['query', 'work 1', 'query', 'subscription']);
    const second = quiet({ operationNames: true });
    later(second.disable);
    await normalizedExecutor({ schema, document, rootValue });
    expect(await names()).toEqual(['query Ask1', 'work 1']);
    for (const { disable } of [first, second]) disable();
    await normalizedExecutor({ schema, document, rootValue });
    expect(await names()).toEqual([]);
  },
);
