// Operations of graphql 17, by its channels, and of the newest version without them.
import { expect, test } from 'vitest';
import { withoutLiterals } from '../../src/instrument/graphql.js';
import { describeGraphql } from './graphql-cases.js';
import { installedAs } from './installed-as.js';
import { importLibrary, library } from './libraries.js';
import { instrumentOnly, recordedOf } from './support.js';

const graphql16 = installedAs('graphql', 'graphql-16');

describeGraphql(
  'graphql 17',
  () => library('graphql'),
  () => importLibrary('graphql'),
);
describeGraphql(
  'graphql 16',
  () => graphql16.require('graphql'),
  () => graphql16.import('graphql'),
);

test('an operation that is answered in parts has the errors of its first answer', async () => {
  instrumentOnly({ graphql: true });
  const {
    experimentalExecuteIncrementally,
    GraphQLDeferDirective,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLString,
    parse,
  } = library('graphql');
  const late = { type: GraphQLString, resolve: async () => 'a' };
  const broken = { type: GraphQLString, resolve: () => Promise.reject(new RangeError('secret')) };
  const query = new GraphQLObjectType({ name: 'Query', fields: { late, broken } });
  const schema = new GraphQLSchema({ query, directives: [GraphQLDeferDirective] });
  const document = parse('{ broken ... @defer { late } }');
  const { initialResult, subsequentResults } = await experimentalExecuteIncrementally({ schema, document });
  expect(initialResult.errors).toHaveLength(1);
  for await (const { hasNext } of subsequentResults) expect(hasNext).toBeDefined();
  const [span] = await recordedOf('server');
  expect([span.name, span.properties['error.type']]).toEqual(['query', 'RangeError']);
});

test.each([
  ['{ a(x: """b "c" \\""" d""", y: "e\\"f") g1 h_2(i: 0) }', '{ a(x: ? y: ?) g1 h_2(i: ?) }'],
  ['{ a(x: "# no comment", y: [1, -2.5]) } # "comment', '{ a(x: ? y: [? ?]) }'],
  ['{ a(x: "open', '{ a(x: ?'],
  // As a document looks that is cut.
  ['{ a(x: "secret\\', '{ a(x: ?'],
  ['{ a(x: """open\n "b" secret', '{ a(x: ?'],
  ['{ a(x: "\\\\", y: "b") }', '{ a(x: ? y: ?) }'],
])('without literals: %s', (text, expected) => expect(withoutLiterals(text)).toBe(expected));
