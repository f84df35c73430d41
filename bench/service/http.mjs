// Rounds of the HTTP service: the flow behind node:http, load from another process, first all that it can take, then at a given rate.
// The load's own CPU must never be in the figures.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { SHAPES } from './shapes.mjs';

const LOAD = fileURLToPath(new URL('./load.mjs', import.meta.url));
const { flow } = SHAPES;

/** What `load.mjs` says: requests a second that were answered, and at a rate their p50 and p99 in ms. */
async function load(port, seconds, rate = 0) {
  const child = spawn(process.execPath, [LOAD, String(port), String(seconds), String(rate)], {
    stdio: ['ignore', 'pipe', 2],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`load.mjs ended with ${code}`);
  return JSON.parse(output);
}

export class HttpRounds {
  #port;
  #served = 0;

  constructor(tracer, meter) {
    this.tracer = tracer;
    this.meter = meter;
  }

  async #listen() {
    const server = createServer(async (_request, response) => {
      const body = await flow.run(this.tracer);
      this.#served++;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return server.address().port;
  }

  /** What `load` says, and how many requests were served meanwhile. */
  #loaded(seconds, rate, quick) {
    return this.meter.round(async () => {
      this.#served = 0;
      const said = await load(this.#port, seconds, rate);
      return { ...said, requests: this.#served, spans: this.#served * flow.spans };
    }, quick);
  }

  /** `perSecond`: at saturation; CPU and latencies: at `rate` requests a second, where one is given; spans and what is lost of them: of both. */
  async round({ seconds, rate, quick }) {
    this.#port ??= await this.#listen();
    const full = await this.#loaded(seconds, 0, quick);
    if (rate === undefined) return full;
    const half = await this.#loaded(seconds, rate, quick);
    return { ...half, rate, perSecond: full.perSecond, lost: full.lost + half.lost, spans: full.spans + half.spans };
  }
}
