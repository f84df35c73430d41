// A GraphQL server of Apollo on express 5, its data in redis. It knows nothing of tracing.
const { ApolloServer } = require('@apollo/server');
const { expressMiddleware } = require('@as-integrations/express5');
const express = require('express');
const { createClient } = require('redis');

const typeDefs = `
  type Author { id: ID! name: String! books: [Book!]! }
  type Book { id: ID! title: String! author: Author! }
  type Query { book(id: ID!): Book author(id: ID!): Author }
  type Mutation { rename(id: ID!, title: String!): Book }
`;

const main = async () => {
  const database = Number(process.env.REDIS_DATABASE);
  const redis = createClient({ socket: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) }, database });
  await redis.connect();
  await redis.hSet('author:1', { id: '1', name: 'Astrid' });
  for (const [i, title] of ['Pippi', 'Ronja', 'Madita'].entries()) {
    await redis.hSet(`book:${i}`, { id: String(i), title, author: '1' });
    await redis.zAdd('author:1:books', { score: i, value: String(i) });
  }
  const find = async (key) => {
    const found = await redis.hGetAll(key);
    return found.id === undefined ? null : found;
  };
  const resolvers = {
    Query: { book: (_, { id }) => find(`book:${id}`), author: (_, { id }) => find(`author:${id}`) },
    Mutation: {
      async rename(_, { id, title }) {
        await redis.multi().hSet(`book:${id}`, 'title', title).incr('renamed').exec();
        return find(`book:${id}`);
      },
    },
    Book: { author: ({ author }) => find(`author:${author}`) },
    Author: {
      async books({ id }) {
        const ids = await redis.zRange(`author:${id}:books`, 0, -1);
        return Promise.all(ids.map((one) => find(`book:${one}`)));
      },
    },
  };
  const server = new ApolloServer({ typeDefs, resolvers, includeStacktraceInErrorResponses: false });
  await server.start();
  const app = express();
  app.use('/graphql', express.json(), expressMiddleware(server));
  app.listen(Number(process.env.PORT), '127.0.0.1');
};
main();
