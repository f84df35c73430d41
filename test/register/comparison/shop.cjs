// A small shop behind express, with PostgreSQL, redis and calls to the depot by `http`. It knows nothing of tracing.
const express = require('express');
const http = require('node:http');
const { Pool } = require('pg');
const { createClient } = require('redis');

const { PORT, POSTGRES, REDIS, DEPOT, NOBODY } = process.env;
const pool = new Pool({ host: POSTGRES, user: 'test', database: 'postgres', max: 2 });
const redis = createClient({ socket: { host: '127.0.0.1', port: Number(REDIS) } });

const ask = (url) =>
  new Promise((resolve, reject) => {
    const request = http.get(url, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode, text }));
    });
    request.on('error', reject);
  });

const orders = express.Router();
orders.get('/:id', async (request, response) => {
  const { rows } = await pool.query('SELECT $1::int AS id, $2::text AS state', [request.params.id, 'open']);
  const seen = await redis.get(`order:${request.params.id}`);
  const { text } = await ask(`${DEPOT}/stock/${request.params.id}?full=yes`);
  response.json({ ...rows[0], seen, stock: JSON.parse(text) });
});
orders.post('/', async (request, response) => {
  await redis.set(`order:${request.body.id}`, 'new');
  const answer = await fetch(`${DEPOT}/reservations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request.body),
  });
  response.status(201).json(await answer.json());
});

const app = express();
app.use(express.json());
app.get('/plain', (_request, response) => response.send('plain'));
app.get(['/either', '/or'], (_request, response) => response.send('either'));
app.get(/^\/expression$/, (_request, response) => response.send('expression'));
app.get('/tables', async (_request, response) => {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    await client.query("SELECT datname FROM pg_database WHERE datname = 'postgres'");
    await client.query({ name: 'tables', text: 'SELECT count(*) FROM pg_class WHERE relkind = $1', values: ['r'] });
    await client.query('COMMIT');
  } finally {
    client.release();
  }
  response.json({});
});
app.get('/broken-query', async (_request, response) => {
  await pool.query('SELECT nothing FROM nowhere').catch(() => {});
  response.status(502).json({});
});
app.get('/wrong-type', async (_request, response) => {
  await redis.set('text', 'x');
  await redis.lPush('text', 'y').catch(() => {});
  response.json({});
});
app.get('/refused', async (_request, response) => {
  await ask(`http://127.0.0.1:${NOBODY}/`).catch(() => {});
  response.json({});
});
app.get('/gone', async (_request, response) => {
  const { status } = await ask(`${DEPOT}/gone`);
  response.json({ status });
});
app.get('/throws', () => {
  throw new Error('thrown');
});
app.use('/orders', orders);

redis.connect().then(() => app.listen(Number(PORT), '127.0.0.1', () => console.log('ready')));
