// The stream of the view Live: a server that closes does not wait for those who watch, and few may watch at a time.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { scratch } from '../../../test/support/built.js';
import { Archive } from '../../archive/src/index.js';
import type { LiveEvent } from '../src/api/answers.js';
import { createUiServer } from '../src/ui-server.js';
import { useServer } from './support/served.js';

const serve = useServer();
const directory = join(scratch(), 'traces');
let archive: Archive;
beforeAll(async () => {
  archive = await Archive.open(directory, { readOnly: true, mayBeMissing: true });
});
afterAll(() => archive.close());

test('a server that closes ends the streams', async () => {
  const server = await createUiServer({ archive }, { host: '127.0.0.1', port: 0, version: 'test' });
  const { body } = await fetch(`${server.url}/ui/api/live`);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const first = new TextDecoder().decode((await reader.read()).value);
  expect(JSON.parse(first.replace('data: ', '')) as LiveEvent).toEqual({ archive: { waitsFor: directory } });
  let isOver = false;
  const closed = server.close();
  // The connection is not cut off: the stream has an end.
  while (!isOver) isOver = (await reader.read()).done;
  await closed;
});

test('no more than a few listen at a time', async () => {
  const url = await serve({ archive });
  const controllers = Array.from({ length: 16 }, () => new AbortController());
  await Promise.all(controllers.map(({ signal }) => fetch(`${url}/api/live`, { signal })));
  expect((await fetch(`${url}/api/live`)).status).toBe(503);
  for (const controller of controllers) controller.abort();
  await expect
    .poll(
      async () => {
        const controller = new AbortController();
        const { status } = await fetch(`${url}/api/live`, { signal: controller.signal });
        controller.abort();
        return status;
      },
      { timeout: 30_000 },
    )
    .toBe(200);
});
