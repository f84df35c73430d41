// A server with an archive and a store of snapshots, beside a real process that has a flight recorder; and requests to it.
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { Archive } from '../../../archive/src/index.js';
import type { TakenAnswer } from '../../src/api/answers.js';
import { makeCart } from './cart.js';
import { useServer } from './served.js';
import { TOKEN, useShop, useSnapshotStores } from './shop-process.js';

/** What a request gives; rejects with the status and the body of a failure. */
const answerOf = async <T>(response: Response): Promise<T> => {
  const body = (await response.json()) as T;
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(body)}`);
  return body;
};

/** For the tests of a file. `on` is filled before they run: the process, the archive of a cart, and the address of the server. */
export const useSnapshotServer = (dir: string) => {
  const serve = useServer();
  const running = useShop(join(dir, 'shop.mjs'));
  const snapshotStoreOf = useSnapshotStores();
  const on = {} as { pid: number; archive: Archive; url: string };
  beforeAll(async () => {
    on.pid = await running({ flightRecorder: {} }, { env: { SPANLINE_FLIGHT_RECORDER: 'on' } });
    await makeCart(join(dir, 'traces'));
    on.archive = await Archive.open(join(dir, 'traces'), { readOnly: true });
    on.url = await serve({ archive: on.archive, snapshots: snapshotStoreOf() });
  });
  afterAll(() => on.archive.close());
  const post = (body: unknown, headers: Record<string, string> = {}, base = on.url): Promise<Response> =>
    fetch(`${base}/api/snapshots/take`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}`, ...headers },
      body: JSON.stringify(body),
    });
  return {
    serve,
    running,
    snapshotStoreOf,
    on,
    ask: async <T>(path: string, query: Record<string, string> = {}, base = on.url): Promise<T> =>
      answerOf(await fetch(`${base}/api/${path}?${new URLSearchParams(query)}`)),
    post,
    take: async (process: number, base = on.url): Promise<TakenAnswer> =>
      answerOf(await post({ pid: process }, {}, base)),
  };
};
