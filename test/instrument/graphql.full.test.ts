// Operations of the oldest version of graphql that is traced.
import { expect, test } from 'vitest';
import { describeGraphql } from './graphql-cases.js';
import { installedAs } from './installed-as.js';
import { instrumentOnly, recorded } from './support.js';

const graphql15 = installedAs('graphql', 'graphql-15');

describeGraphql(
  'graphql 15',
  () => graphql15.require('graphql'),
  () => graphql15.import('graphql'),
);

test('arguments one by one, and a subscription without a span for each event', async () => {
  instrumentOnly({ graphql: true });
  const { buildSchema, execute, graphql, parse, subscribe } = graphql15.require('graphql');
  const schema = buildSchema('type Query { a: Int, b: Int } type Subscription { ticks: Int }');
  const two = 'query A { a } query B { b }';
  expect(execute(schema, parse(two), { b: 1 }, undefined, undefined, 'B')).toEqual({ data: { b: 1 } });
  expect(await graphql(schema, two, { a: 1 }, undefined, undefined, 'A')).toEqual({ data: { a: 1 } });
  const ticks = async function* () {
    yield { ticks: 1 };
    yield { ticks: 2 };
  };
  let events = 0;
  for await (const _ of await subscribe(schema, parse('subscription { ticks }'), { ticks })) events++;
  expect(events).toBe(2);
  const spans = await recorded();
  expect(spans.map(({ name, properties }) => [name, properties['graphql.operation.name']])).toEqual([
    ['query', 'B'],
    ['query', 'A'],
    ['subscription', undefined],
  ]);
});
