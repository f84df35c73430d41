// A service that is traced for long has the memory that it had, keeps no request alive, and loses no span at SIGTERM. SPANLINE_LONGEVITY is the
// number of requests, incoming ones of both kinds together: two million take some minutes, which is what the nightly suite asks for.
import { Agent, request } from 'node:http';
import { expect, test } from 'vitest';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { startServer } from '../exporters/support/http-server.js';
import { decodeSpans } from '../exporters/support/otlp-decode.js';
import { buildFirst } from '../support/built.js';
import { samples } from '../support/samples.js';
import { service, tracedBy, tracedTo } from './support/official.js';
import { startService } from './support/service.js';

buildFirst();

const REQUESTS = Number(process.env.SPANLINE_LONGEVITY || samples(16_000, 16_000, 2_000_000));
const AT_ONCE = 32;
/** Looks at the heap, with as many requests between each two. */
const LOOKS = 9;
/**
 * Standard deviation of one look at the heap after a collection, measured over 48,000 requests that grew by nothing: 0.35 MB, for V8 compiles and
 * drops code as it likes. That of a slope through nine looks is a 7.7th (the root of 60, the sum of squares of their places).
 */
const NOISE_BYTES = 400_000;
const SLOPE_NOISE_BYTES = NOISE_BYTES / Math.sqrt(60);
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

    // Each order is two requests. What is compiled, and what caches hold, comes in the first quarter.
    const stretch = Math.ceil((REQUESTS * 3) / 4 / 2 / LOOKS);
    await load(REQUESTS / 8);
    const looks: Memory[] = [];
    for (let i = 0; i < LOOKS; i++) {
      await load(stretch);
      looks.push(await memory());
    }
    await load(AT_ONCE);
    // At once: the last are still to be sent.
    const exit = await running.stop();
    await sink.close();

    const [first, last] = [looks[0], looks[LOOKS - 1]];
    const slope = medianSlope(looks.map(({ heap }) => heap)) / (2 * stretch);
    console.info(
      `${REQUESTS} requests: heap ${mega(first.heap)} MB, then ${mega(last.heap)} MB, ${slope.toFixed(1)} bytes a request; ` +
        `resident ${mega(first.rss)} MB, then ${mega(last.rss)} MB; ${last.requests - last.collected} requests kept`,
    );
    expect(exit.signal).toBe('SIGTERM');
    expect(running.said()).toBe('ready\n');
    expect(Object.fromEntries(counts)).toEqual({
      '2 /order': answered,
      '2 /leaf': answered,
      '2 /memory': LOOKS,
      3: answered,
    });
    // How many objects there are, whatever their size: those under way, and not a share of all.
    for (const { requests, collected } of looks) expect(requests - collected).toBeLessThan(KEPT);
    // Something that is kept for each request makes each stretch larger by as much. Five standard deviations: a false failure comes less often than
    // once in a million runs, and what is twice as large is found as surely. That are 258 bytes a request of 24,000 (what a request itself
    // keeps alive is more, and counted above), and 3 of two million.
    expect(slope).toBeLessThan((5 * SLOPE_NOISE_BYTES) / (2 * stretch));
  },
  600_000 + 5 * REQUESTS,
);

/** The median of the slopes between all pairs (Theil and Sen). */
const medianSlope = (values: readonly number[]): number => {
  const slopes = values.flatMap((value, i) => values.slice(0, i).map((before, k) => (value - before) / (i - k)));
  return slopes.sort((a, b) => a - b)[slopes.length >> 1];
};

const mega = (bytes: number): string => (bytes / 1e6).toFixed(1);
