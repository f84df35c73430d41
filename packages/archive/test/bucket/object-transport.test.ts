// Ranges of an object, as a client brings them: an empty one is a damaged upload, not a store that fails, and bytes of two versions are never mixed.
import { expect, test } from 'vitest';
import { ObjectTransport } from '../../src/bucket/object-transport.js';
import type { S3Client } from '../../src/bucket/s3-client.js';
import { Segment } from '../../src/segment/segment.js';

const asked = { url: 'http://127.0.0.1:1/b/k', name: 's3://b/k', deed: { what: 'reading', right: 's3:GetObject' } };

test.each([
  ['all of it', 200, {}, 90],
  ['a range', 206, { 'content-range': 'bytes 0-9/90' }, 10],
])(
  'one of another size is another, also where a store names no versions and sends %s',
  async (_, status, headers, bytes) => {
    const ask = async () => ({ status, headers, bytes: Buffer.alloc(bytes) });
    const transport = new ObjectTransport({ ask } as unknown as S3Client, asked, { size: 100, etag: '' });
    const changed = { code: 'ERR_SPANLINE_GRAPH_CHANGED' };
    await expect(transport.readRanges([{ offset: 0, length: 10 }])).rejects.toMatchObject(changed);
    await expect(transport.readTail(10)).rejects.toMatchObject(changed);
  },
);

test('one that is listed as empty is cut off', async () => {
  const ask = async (): Promise<never> => {
    throw new Error('asked for a range');
  };
  const transport = new ObjectTransport({ ask } as unknown as S3Client, asked, { size: 0, etag: '"e"' });
  await expect(Segment.open(transport)).rejects.toMatchObject({ code: 'ERR_SPANLINE_GRAPH_TRUNCATED' });
});
