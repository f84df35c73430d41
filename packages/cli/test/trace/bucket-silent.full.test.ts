// A person who asks a store that takes connections and never answers is told so after seconds, not minutes.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { scratch, spanline } from '../support/spanline.js';

const dir = scratch();

test('a store that never answers is given up after one attempt', { timeout: 60_000 }, async () => {
  let connections = 0;
  const silent = createServer((socket) => {
    connections++;
    socket.on('error', () => {});
  });
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const env = {
    ...{ AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
    ...{ AWS_REGION: 'us-east-1', XDG_CACHE_HOME: join(dir, 'cache') },
  };
  const { code, stderr } = await spanline(['trace', 'ls', '-a', 's3://traces/x'], { env });
  expect(code).toBe(3);
  expect(stderr).toContain('The store has not answered once: correct its endpoint (AWS_ENDPOINT_URL_S3)');
  expect(connections).toBe(1);
});
