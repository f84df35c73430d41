// A store that takes connections and never answers keeps nobody from coming up and going.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Archive } from '../../src/archive.js';
import { newDirectory } from '../archive/support/directory.js';
import { syntheticSpans } from '../segment/support/synthetic-spans.js';

test('an archive is opened, written and closed', { timeout: 60_000 }, async () => {
  const silent = createServer((socket) => socket.on('error', () => {}));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void silent.close());
  const { port } = silent.address() as AddressInfo;
  const s3 = {
    endpoint: `http://127.0.0.1:${port}`,
    stallMs: 600_000,
    credentials: async () => ({ accessKeyId: 'a', secretAccessKey: 'b' }),
  };
  const archive = await Archive.open('s3://traces/silent', { s3, spool: newDirectory() });
  const spans = syntheticSpans({ traces: 3, spansPerTrace: 2, seed: 5 });
  expect(archive.append(spans)).toBe(spans.length);
  await archive.close();
});
