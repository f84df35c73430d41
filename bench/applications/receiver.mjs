// Takes OTLP as JSON, in this process, and gives the spans.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { spansIn } from './traces.mjs';

/** Nothing more is to come after so long: both are told to send much sooner. */
const QUIET_MS = 2000;
/** What an application does by itself may never be quiet. */
const PATIENCE_MS = 8000;

export async function startReceiver() {
  // What was on its way when it failed is sent again.
  const spans = new Map();
  let last = performance.now();
  const server = createServer(async (request, response) => {
    const body = await json(request).catch(() => ({}));
    response.setHeader('content-type', 'application/json').end('{}');
    for (const span of spansIn(body)) spans.set(span.spanId, span);
    last = performance.now();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** All spans, when those of requests that are over have come. */
    async settled() {
      last = performance.now();
      const end = last + PATIENCE_MS;
      while (performance.now() - last < QUIET_MS && performance.now() < end) await sleep(50);
      return [...spans.values()];
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
