// Rounds of the HTTP service: the flow behind node:http, load from another process, first all that it can take, then at a given rate.
// Every span of either must be counted as served.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { load } from './run-load.mjs';
import { SHAPES } from './shapes.mjs';

const { flow } = SHAPES;

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
  #loaded(seconds, quick, rate) {
    return this.meter.round(async () => {
      this.#served = 0;
      const [said] = await load([this.#port], { seconds, rate });
      return { ...said, requests: this.#served, spans: this.#served * flow.spans };
    }, quick);
  }

  /** `perSecond`: at saturation; CPU and latencies: at `rate` requests a second, where one is given; spans and what is lost of them: of both. */
  async round({ seconds, rate, quick }) {
    this.#port ??= await this.#listen();
    const full = await this.#loaded(seconds, quick);
    if (rate === undefined) return full;
    const half = await this.#loaded(seconds, quick, rate);
    return { ...half, rate, perSecond: full.perSecond, lost: full.lost + half.lost, spans: full.spans + half.spans };
  }
}
