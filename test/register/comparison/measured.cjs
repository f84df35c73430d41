// A service that asks another by `http` and by `fetch`, with routes of express, and a database where PGPORT names one, and all its load. It knows nothing of
// tracing nor of metrics.
const { once } = require('node:events');
const http = require('node:http');
const express = require('express');

const ask = (url, method = 'GET') =>
  new Promise((resolve, reject) => {
    const asked = http.request(url, { method, agent: false }, (answer) => answer.resume().on('end', resolve));
    asked.on('error', reject).end();
  });

const listen = async (server) => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${server.address().port}`;
};

async function query() {
  const { Client } = require('pg');
  const client = new Client({ host: '127.0.0.1', user: 'test', database: 'postgres' });
  await client.connect();
  for (let i = 0; i < 5; i++) await client.query('SELECT oid FROM pg_database WHERE oid > $1', [i]);
  await client.query('CREATE TEMPORARY TABLE items (id int)');
  await client.query('INSERT INTO items VALUES (1), (2)');
  for (let i = 0; i < 2; i++) await client.query('SELECT * FROM nothing').catch(() => {});
  await client.end();
}

async function main() {
  const backend = http.createServer((request, response) => {
    response.writeHead(request.url === '/gone' ? 404 : request.url === '/bad' ? 503 : 200).end('item');
  });
  const items = await listen(backend);
  const app = express();
  app.get('/items/:id', async (request, response) => {
    await ask(`${items}/item`);
    await (await fetch(`${items}/${request.params.id === '1' ? 'gone' : 'item'}`)).text();
    response.send('ok');
  });
  app.post('/items', async (_request, response) => {
    await ask(`${items}/bad`, 'POST');
    response.status(201).end();
  });
  // Long enough that what both measure of it is nearly all waiting.
  app.get('/slow', (_request, response) => void setTimeout(() => response.send('ok'), 100));
  app.get('/broken', () => {
    throw new Error('broken');
  });
  const service = http.createServer(app);
  const url = await listen(service);
  for (let i = 0; i < 10; i++) await ask(`${url}/items/${i}`);
  for (let i = 0; i < 4; i++) await ask(`${url}/items`, 'POST');
  for (let i = 0; i < 3; i++) await ask(`${url}/broken`);
  for (let i = 0; i < 2; i++) await (await fetch(`${url}/nothing`)).text();
  await ask(`${url}/items/3`, 'PURGE');
  for (let i = 0; i < 5; i++) await ask(`${url}/slow`);
  const nobody = http.createServer();
  const dead = await listen(nobody);
  nobody.close();
  await once(nobody, 'close');
  await ask(dead).catch(() => {});
  await fetch(dead).catch(() => {});
  if (process.env.PGPORT !== undefined) await query();
  for (const server of [service, backend]) {
    server.close();
    server.closeAllConnections();
  }
}
main().then(() => process.emit('over'));
