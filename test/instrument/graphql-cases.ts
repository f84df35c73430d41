// What every version of graphql is traced as: operations are one span each, with the conventions' names and a document without values, and their steps.
import { describe, expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { instrumentOnly, recorded } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';
const SCHEMA = `
  type User { name: String!, broken: String }
  type Query { user(name: String, age: Int, ratio: Float): User }
  type Subscription { ticks: Int }
`;

const rootValue = {
  async user({ name }: { name: string }) {
    return {
      name,
      broken() {
        throw Object.assign(new TypeError(SECRET), { extensions: { code: 'BROKEN' } });
      },
    };
  },
  async *ticks() {
    yield { ticks: 1 };
  },
};

const DOCUMENT = `query Find($age: Int = 41) { # ${SECRET}
  user(name: "${SECRET}", age: $age, ratio: -1.5e3) { name }
}`;

const treeOf = async () => {
  const spans = await recorded();
  return spans.map(({ name, kind, parentSpanId }) => [
    name,
    kind,
    spans.find(({ spanId }) => spanId === parentSpanId)?.name,
  ]);
};

/** The same of each version, as it is required and imported. */
export const describeGraphql = (version: string, required: () => Untyped, imported: () => Promise<Untyped>): unknown =>
  describe(version, () => {
    describe.each<[string, () => Promise<Untyped>]>([
      ['required', async () => required()],
      ['imported', imported],
    ])('%s', (_, load) => {
      test('an operation has its type, its name and its document', async () => {
        instrumentOnly({ graphql: true });
        const { graphql, buildSchema } = await load();
        const schema = buildSchema(SCHEMA);
        // Reading a schema is not work for anybody.
        expect(await recorded()).toEqual([]);
        const { data } = await Span.root('request').runToEnd<Promise<Untyped>>(() =>
          graphql({ schema, source: DOCUMENT, rootValue }),
        );
        expect(data.user).toMatchObject({ name: SECRET });
        const spans = await recorded();
        expect(spans.map(({ name, kind, status }) => [name, kind, status.code])).toEqual([
          ['request', 'internal', 'unset'],
          ['graphql.parse', 'internal', 'unset'],
          ['graphql.validate', 'internal', 'unset'],
          ['query', 'server', 'unset'],
        ]);
        expect(new Set(spans.slice(1).map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([spans[0].spanId]));
        expect(spans[3].properties).toEqual({
          'graphql.operation.type': 'query',
          'graphql.operation.name': 'Find',
          'graphql.document': 'query Find($age: Int = ?) { user(name: ? age: $age ratio: ?) { name } }',
        });
        expect(JSON.stringify(spans)).not.toContain(SECRET);
      });

      test('what a resolver does belongs to its operation, or to its own span', async () => {
        const { graphql, buildSchema } = await load();
        const schema = buildSchema(SCHEMA);
        const root = {
          async user() {
            await null;
            Span.startWithLocalParent('work').end();
            return { name: 'a' };
          },
        };
        const run = () => graphql({ schema, source: '{ user { name } }', rootValue: root });
        instrumentOnly({ graphql: true });
        await run();
        expect(await treeOf()).toEqual([
          ['query', 'server', undefined],
          ['work', 'internal', 'query'],
        ]);
      });
    });

    test('resolvers that are no default ones, where asked for', async () => {
      instrumentOnly({ graphql: { resolve: true, operationNames: true } });
      const { graphql, GraphQLObjectType, GraphQLSchema, GraphQLString } = required();
      const word = {
        type: GraphQLString,
        resolve: async () => {
          Span.startWithLocalParent('work').end();
          return 'hello';
        },
      };
      const inner = new GraphQLObjectType({ name: 'Inner', fields: { word, plain: { type: GraphQLString } } });
      const query = new GraphQLObjectType({
        name: 'Query',
        fields: { inner: { type: inner, resolve: () => ({ plain: 'a' }) } },
      });
      await graphql({ schema: new GraphQLSchema({ query }), source: 'query Words { inner { other: word plain } }' });
      expect(await treeOf()).toEqual([
        ['query Words', 'server', undefined],
        ['graphql.resolve Query.inner', 'internal', 'query Words'],
        ['graphql.resolve Inner.word', 'internal', 'query Words'],
        ['work', 'internal', 'graphql.resolve Inner.word'],
      ]);
    });

    test('what a resolver gives is not a failure of it, what it throws is', async () => {
      instrumentOnly({ graphql: { resolve: true } });
      const { graphql, GraphQLList, GraphQLObjectType, GraphQLSchema, GraphQLString } = required();
      const list = new GraphQLList(GraphQLString);
      const payload = new GraphQLObjectType({ name: 'Payload', fields: { errors: { type: list } } });
      const query = new GraphQLObjectType({
        name: 'Query',
        fields: {
          words: { type: list, resolve: () => ['a'] },
          saved: { type: payload, resolve: async () => ({ errors: ['a'] }) },
          broken: { type: GraphQLString, resolve: () => Promise.reject(new RangeError(SECRET)) },
          silent: { type: GraphQLString, resolve: () => Promise.reject(undefined) },
        },
      });
      const source = '{ words saved { errors } broken silent }';
      expect((await graphql({ schema: new GraphQLSchema({ query }), source })).data).toEqual({
        words: ['a'],
        saved: { errors: ['a'] },
        broken: null,
        silent: null,
      });
      const spans = await recorded();
      expect(spans.slice(1).map(({ name, properties }) => [name, properties['error.type']])).toEqual([
        ['graphql.resolve Query.words', undefined],
        ['graphql.resolve Query.saved', undefined],
        ['graphql.resolve Query.broken', 'RangeError'],
        ['graphql.resolve Query.silent', '_OTHER'],
      ]);
    });

    test('errors have their code, and no word of their texts', async () => {
      instrumentOnly({ graphql: true });
      const { graphql, buildSchema } = required();
      const schema = buildSchema(SCHEMA);
      const ask = (source: string) => Span.root('request').runToEnd(() => graphql({ schema, source, rootValue }));
      await ask('{ user { broken } }');
      await ask(`{ ${SECRET} }`);
      await ask(`{ "${SECRET}" }`);
      const spans = await recorded();
      expect(JSON.stringify(spans.filter(({ name }) => name !== 'request'))).not.toContain(SECRET);
      const failed = spans.filter(({ status }) => status.code === 'error');
      expect(failed.map(({ name, properties }) => [name, properties['error.type']])).toEqual([
        ['query', 'BROKEN'],
        ['graphql.validate', 'GraphQLError'],
        ['graphql.parse', 'GraphQLError'],
      ]);
    });

    test('a subscription, and hooks', async () => {
      const seen: unknown[] = [];
      instrumentOnly({
        graphql: {
          ignore: ({ type }) => type === 'query',
          enrich: (span, { name, document }, result) => {
            seen.push(name, document, typeof result);
            span.addProperty('own', 1);
          },
        },
      });
      const { graphql, buildSchema, parse, subscribe } = required();
      const schema = buildSchema(SCHEMA);
      await graphql({ schema, source: DOCUMENT, rootValue });
      const stream = await subscribe({ schema, document: parse('subscription Ticks { ticks }'), rootValue });
      for await (const { data } of stream) expect(data).toEqual({ ticks: 1 });
      await subscribe({ schema, document: parse('subscription { ticks }', { noLocation: true }), rootValue });
      const spans = await recorded();
      expect(spans.map(({ name, properties }) => [name, properties.own, properties['graphql.document']])).toEqual([
        ['subscription', 1, 'subscription Ticks { ticks }'],
        ['subscription', 1, undefined],
      ]);
      expect(seen).toEqual(['Ticks', 'subscription Ticks { ticks }', 'object', undefined, undefined, 'object']);
    });
  });
