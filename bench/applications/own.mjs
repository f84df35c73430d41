// Small applications of `programs/`, of libraries that those of others lack: how each is started, what it needs, and what it is asked.
import { fileURLToPath } from 'node:url';
import { graphql, send } from './requests.mjs';

const own = (name) => fileURLToPath(new URL(`programs/${name}`, import.meta.url));

/** @type {import('./list.mjs').Application[]} */
export const OWN = [
  {
    name: 'books on NestJS',
    of: 'NestJS 11 (express 5), TypeORM, mysql2',
    program: own('nest.cjs'),
    needs: ['mariadb'],
    env: ({ port, database, mariadb }) => ({
      PORT: String(port),
      DATABASE: database,
      MYSQL_PORT: String(mariadb.port),
    }),
    requests: [['/books'], ['/books/1'], ['/books/2', send('POST', { title: 'Ronja' })], ['/books/9'], ['/nowhere']],
    load: [['/books'], ['/books/1'], ['/books/3']],
  },
  {
    name: 'books on Apollo Server',
    of: 'Apollo Server 5 (express 5), graphql 16, redis',
    program: own('apollo.cjs'),
    needs: ['redis'],
    env: ({ port, redis, redisDatabase }) => ({
      PORT: String(port),
      REDIS_PORT: String(redis.port),
      REDIS_DATABASE: String(redisDatabase),
    }),
    requests: [
      graphql('{ book(id: 1) { title author { name } } }'),
      graphql('{ author(id: 1) { name books { title } } }'),
      graphql('mutation { rename(id: 2, title: "Madita") { title } }'),
      graphql('{ nothing }'),
      ['/nowhere'],
    ],
    load: [
      graphql('{ book(id: 1) { title } }'),
      graphql('{ book(id: 2) { title author { name } } }'),
      graphql('{ author(id: 1) { name books { title } } }'),
    ],
  },
  {
    name: 'pictures on koa',
    of: 'koa 3, ioredis, bullmq 5',
    program: own('queue.cjs'),
    needs: ['redis'],
    env: ({ port, redis, redisDatabase }) => ({
      PORT: String(port),
      REDIS_PORT: String(redis.port),
      REDIS_DATABASE: String(redisDatabase),
    }),
    requests: [['/pictures/1'], ['/cached/1'], ['/pictures/1', { method: 'POST' }], ['/nowhere']],
    load: [['/pictures/1'], ['/cached/1'], ['/pictures/1', { method: 'POST' }]],
  },
  {
    name: 'parts on hapi',
    of: 'hapi 21, mongodb 6',
    program: own('hapi.cjs'),
    needs: ['mongodb'],
    env: ({ port, database, mongodb }) => ({ PORT: String(port), DATABASE: database, MONGODB: mongodb.url }),
    requests: [['/parts'], ['/parts/3'], ['/parts/4', send('PUT', { name: 'new' })], ['/parts/99'], ['/nowhere']],
    load: [['/parts'], ['/parts/3']],
  },
  {
    name: 'books on hono',
    of: 'hono 4, postgres.js, ES modules',
    program: own('hono.mjs'),
    isModule: true,
    needs: ['postgres'],
    env: ({ port, database, postgres }) => ({
      PORT: String(port),
      DATABASE: database,
      POSTGRES_HOST: postgres.host,
      POSTGRES_PORT: String(postgres.port),
    }),
    requests: [['/books'], ['/books/3'], ['/books/4', send('POST', { title: 'new' })], ['/books/99'], ['/nowhere']],
    load: [['/books'], ['/books/3']],
  },
];
