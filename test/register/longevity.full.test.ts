// A service that is traced for long has the memory that it had, keeps no request alive, and loses no span at SIGTERM. SPANLINE_LONGEVITY is the
// number of requests, incoming ones of both kinds together: two million take some minutes.
import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { buildFirst } from '../cli/support/spanline.js';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { rounds } from '../support/rounds.js';
import { service, tracedBy, tracedTo } from './support/official.js';
import { startService } from './support/service.js';

buildFirst();

const REQUESTS = Number(process.env.SPANLINE_LONGEVITY || rounds(24_000));
const AT_ONCE = 32;
/** Growth of the heap, however many requests: less than what one object for each would take. */
const MOST_BYTES = 3_000_000;
/** What Node itself keeps for connections that are open. */
const KEPT = 4 * AT_ONCE;

interface Memory {
  readonly requests: number;
  readonly collected: number;
  readonly heap: number;
  readonly rss: number;
}

test(
  `${REQUESTS} requests`,
  async () => {
    const counts = new Map<string, number>();
    const sink = await startServer((response) => {
      for (const { body } of sink.requests.splice(0)) {
        for (const { kind, attributes } of decodeSpans(body)) {
          const path = attributes.find(([key]) => key === 'url.path')?.[1][1];
          const of = `${kind} ${path ?? ''}`.trim();
          counts.set(of, (counts.get(of) ?? 0) + 1);
        }
      }
      response.end();
    });
    const port = await freePort();
    const running = await startService(service('endless.cjs'), {
      execArgv: ['--expose-gc', ...tracedBy.spanline()],
      env: { ...tracedTo(sink.url), PORT: String(port) },
    });
    const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
    const ask = (path: string, body?: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const method = body === undefined ? 'GET' : 'POST';
        const asked = request({ host: '127.0.0.1', port, path, agent, method }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          answer.on('end', () => resolve(text)).on('error', reject);
        });
        asked.on('error', reject).end(body);
      });
    const memory = async (): Promise<Memory> => JSON.parse(await ask('/memory')) as Memory;
    let answered = 0;
    // Each asks for a leaf too, which is a request of its own.
    const load = async (count: number): Promise<void> => {
      let left = count;
      const one = async (): Promise<void> => {
        while (left-- > 0) {
          await ask('/order', left % 2 === 0 ? 'a body' : undefined);
          answered++;
        }
      };
      await Promise.all(Array.from({ length: AT_ONCE }, one));
    };

    const quarter = REQUESTS / 8;
    await load(quarter);
    const before = await memory();
    await load(2 * quarter);
    const after = await memory();
    await load(quarter);
    // At once: the last are still to be sent.
    const exit = await running.stop();
    await sink.close();

    console.info(
      `${REQUESTS} requests: heap ${mega(before.heap)} MB, then ${mega(after.heap)} MB; ` +
        `resident ${mega(before.rss)} MB, then ${mega(after.rss)} MB; ${after.requests - after.collected} requests kept`,
    );
    expect(exit.signal).toBe('SIGTERM');
    expect(running.said()).toBe('ready\n');
    expect(Object.fromEntries(counts)).toEqual({
      '2 /order': answered,
      '2 /leaf': answered,
      '2 /memory': 2,
      3: answered,
    });
    expect(after.heap - before.heap).toBeLessThan(MOST_BYTES);
    expect(after.requests - after.collected).toBeLessThan(KEPT);
  },
  120_000 + REQUESTS,
);

const mega = (bytes: number): string => (bytes / 1e6).toFixed(1);
