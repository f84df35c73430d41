// A web application on koa and ioredis that hands work to bullmq, and the worker of it. It knows nothing of tracing.
const Router = require('@koa/router');
const { Queue, QueueEvents, Worker } = require('bullmq');
const { Redis } = require('ioredis');
const Koa = require('koa');

const server = { host: '127.0.0.1', port: Number(process.env.REDIS_PORT), db: Number(process.env.REDIS_DATABASE) };
const redis = new Redis(server);
const connection = { ...server, maxRetriesPerRequest: null };
const queue = new Queue('thumbnails', { connection });
const events = new QueueEvents('thumbnails', { connection });
const work = async ({ data: { picture } }) => redis.hincrby('drawn', picture, 1);
const worker = new Worker('thumbnails', work, { connection, concurrency: 4 });

const router = new Router();
router.get('/pictures/:id', async (context) => {
  const [[, title], [, views]] = await redis.multi().hget('titles', context.params.id).incr('views').exec();
  context.body = { title: title ?? `picture ${context.params.id}`, isViewed: views > 0 };
});
router.get('/cached/:id', async (context) => {
  const key = `cached:${context.params.id}`;
  if ((await redis.get(key)) === null) await redis.set(key, context.params.id);
  context.body = { id: await redis.get(key) };
});
/** Answered when the worker has done it. */
router.post('/pictures/:id', async (context) => {
  const options = { removeOnComplete: true };
  const job = await queue.add('draw', { picture: context.params.id }, options);
  await job.waitUntilFinished(events);
  context.body = { drawn: context.params.id };
});

const app = new Koa();
app.use(router.routes());
Promise.all([queue.waitUntilReady(), events.waitUntilReady(), worker.waitUntilReady()]).then(() =>
  app.listen(Number(process.env.PORT), '127.0.0.1'),
);
