// A depot behind fastify, with redis by ioredis and calls to itself by `fetch`. It knows nothing of tracing.
import fastify from 'fastify';
import { Redis } from 'ioredis';

const { PORT, REDIS, NOBODY } = process.env;
const redis = new Redis({ host: '127.0.0.1', port: Number(REDIS) });
const app = fastify();

app.get('/stock/:id', async ({ params: { id } }) => {
  const count = await redis.get(`stock:${id}`);
  const price = await fetch(`http://127.0.0.1:${PORT}/prices/${id}`);
  return { count, ...(await price.json()) };
});
app.get('/prices/:id', async ({ params: { id } }) => ({ id, price: 12 }));
app.register(
  async (inner) => {
    inner.post('/', async ({ body: { id } }) => {
      await redis.incr(`stock:${id}`);
      await Promise.all([redis.get('a'), redis.get('b')]);
      return { id };
    });
  },
  { prefix: '/reservations' },
);
app.get('/gone', (_request, reply) => {
  reply.code(410).send({ gone: true });
});
app.get('/refused', async () => {
  await fetch(`http://127.0.0.1:${NOBODY}/`).catch(() => {});
  return {};
});
app.get('/given-up', async () => {
  const waiting = new AbortController();
  setTimeout(() => waiting.abort(), 20);
  await fetch(`http://127.0.0.1:${PORT}/slow`, { signal: waiting.signal }).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 150));
  return {};
});
app.get('/slow', async () => {
  await new Promise((resolve) => setTimeout(resolve, 100));
  return {};
});
app.get('/throws', async () => {
  throw new Error('thrown');
});

await redis.ping();
await app.listen({ port: Number(PORT), host: '127.0.0.1' });
console.log('ready');
