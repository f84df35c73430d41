// A service on hono, an ES module as hono is, that asks itself once and goes.
import { once } from 'node:events';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';

export const serveOnce = async () => {
  const app = new Hono().get('/users/:id', (context) => context.text(context.req.param('id')));
  const server = createAdaptorServer({ fetch: app.fetch }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  console.log(await (await fetch(`http://127.0.0.1:${server.address().port}/users/7`)).text());
  server.close();
  server.closeAllConnections();
};
