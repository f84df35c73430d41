// An archive in a bucket of a real server answers as one in a directory does: of what is in the bucket, and of what a writer has in its spool.
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { describeBucket } from '../../../../test/support/versitygw.js';
import { Archive } from '../../src/archive.js';
import type { ArchiveOptions } from '../../src/archive-options.js';
import { checkAnySteps } from '../archive/support/archive-model.js';
import { newDirectory } from '../archive/support/directory.js';
import { bruteForce, withoutBytes } from '../segment/support/brute-force.js';
import { byId, collect, tracesOf } from '../segment/support/segments.js';
import { syntheticSpans } from '../segment/support/synthetic-spans.js';

describeBucket('an archive in a bucket', (server) => {
  let archives = 0;
  const newPlace = (): string => `s3://traces/archive-${archives++}`;
  const open = async (place: string, options: ArchiveOptions = {}): Promise<Archive> => {
    const { endpoint, accessKeyId, secretAccessKey } = server();
    const s3 = { endpoint, credentials: async () => ({ accessKeyId, secretAccessKey }) };
    const spool = options.readOnly ? {} : { spool: newDirectory() };
    const archive = await Archive.open(place, { ...spool, cacheDirectory: newDirectory(), s3, ...options });
    onTestFinished(() => archive.close());
    return archive;
  };

  test('any steps, as the model', { timeout: 120_000 }, async () => {
    await checkAnySteps(samples(3, 12, 100), () => {
      const place = newPlace();
      const spools = [newDirectory(), newDirectory()];
      return {
        open: (writer) => open(place, { spool: spools[writer], unsortedSpans: 5, mergedSpans: 500 }),
        sharesUnsealed: false,
      };
    });
  });

  test('what is sealed is seen by others; what is flushed by its writer alone', async () => {
    const place = newPlace();
    const writer = await open(place);
    const reader = await open(place, { readOnly: true });
    const spans = syntheticSpans({ traces: 20, spansPerTrace: 5, seed: 1 });
    writer.append(spans);
    await writer.flush();
    expect(withoutBytes(await writer.search({ limit: 100 }))).toEqual(bruteForce(spans, { limit: 100 }));
    expect(await reader.search()).toEqual([]);
    await writer.seal();
    for (const archive of [writer, reader]) {
      expect(withoutBytes(await archive.search({ limit: 100 }))).toEqual(bruteForce(spans, { limit: 100 }));
      for (const [id, trace] of tracesOf(spans))
        expect(isDeepStrictEqual(byId(await archive.trace(id)), byId(trace))).toBe(true);
      expect(isDeepStrictEqual(byId((await collect(archive.scan())).flat()), byId(spans))).toBe(true);
      expect(await archive.services()).toEqual(
        [...new Set(spans.map(({ resource }) => resource.properties['service.name']))].sort(),
      );
      const stats = await archive.stats();
      expect(stats).toMatchObject({ segments: 1, spans: 100, damaged: [] });
      expect(stats.bucket).toMatchObject({ freshUploads: 1, uploads: archive === writer ? 1 : 0 });
    }
  });
});
