// A span that no archive can ever keep costs a server neither the others of its request nor its archive.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { Archive } from '../../src/archive.js';
import { encodeOtlpJson } from '../../src/formats/encode.js';
import { allSpans, newDirectory, openArchive } from '../archive/support/directory.js';
import { FULL_SPAN } from '../support/any-span.js';
import { ask, serve } from '../support/serve.js';

test('it is told with its reason; the others, and the archive, go on', { timeout: 600_000 }, async () => {
  const directory = newDirectory();
  const archive = await Archive.open(directory);
  const { url, close } = await serve({ archive });
  // Empty events take far more memory than bytes on the way: 36 MB where 32 MiB is the bound.
  const event = { name: '', timeUnixNs: 0n, properties: {} };
  const huge = { ...FULL_SPAN, spanId: 'f'.repeat(16), events: Array<typeof event>(300_000).fill(event) };
  const others = Array.from({ length: 5 }, (_, i) => ({ ...FULL_SPAN, spanId: `000000000000000${i + 1}` }));
  const answer = await ask(`${url}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    body: gzipSync(encodeOtlpJson([...others.slice(0, 3), huge, ...others.slice(3)])),
  });
  expect(answer).toMatchObject({
    status: 200,
    json: { partialSuccess: { rejectedSpans: '1', errorMessage: expect.stringContaining('ffffffffffffffff') } },
  });
  expect((await ask(`${url}/stats`)).json).toMatchObject({ server: { otlp: { spans: 5, spansInvalid: 1 } } });
  // What is held can become a segment: nothing in it stands in the way.
  await archive.seal();
  await close();
  await archive.close();
  const found = await allSpans(await openArchive(directory, { readOnly: true }));
  expect(found.map(({ spanId }) => spanId).sort()).toEqual(others.map(({ spanId }) => spanId));
});
