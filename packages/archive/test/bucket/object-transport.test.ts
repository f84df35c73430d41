// An object without bytes is read without asking for a range of it: a damaged upload, not a store that fails.
import { expect, test } from 'vitest';
import { ObjectTransport } from '../../src/bucket/object-transport.js';
import type { S3Client } from '../../src/bucket/s3-client.js';
import { Segment } from '../../src/segment/segment.js';

test('one that is listed as empty is cut off', async () => {
  const ask = async (): Promise<never> => {
    throw new Error('asked for a range');
  };
  const asked = { url: 'http://127.0.0.1:1/b/k', name: 's3://b/k', deed: { what: 'reading', right: 's3:GetObject' } };
  const transport = new ObjectTransport({ ask } as unknown as S3Client, asked, { size: 0, etag: '"e"' });
  await expect(Segment.open(transport)).rejects.toMatchObject({ code: 'ERR_SPANLINE_GRAPH_TRUNCATED' });
});
