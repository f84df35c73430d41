// A writer of many small files that dies before any of its writes leaves a store that the next one completes.
import { expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { ingestFiles } from '../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { onLmdb } from '../support/on-both-engines.js';
import { dumpOfData } from './support/dump.js';
import { dyingAfter } from './support/dying-table.js';
import { smallFiles } from './support/small-files.js';

// The first write, the one so many later, and so on is the last one.
const STRIDE = samples(80, 80, 2);

onLmdb('a writer of many files that dies', (engine) => {
  test('before any of its writes is completed by the next one', async () => {
    const files = smallFiles(1100);
    const whole = await PerfStore.open(await engine.table(PERF_SCHEMA));
    await ingestFiles(whole, files);
    const expected = await dumpOfData(whole.table);
    for (let count = 1, isDead = true; isDead; count += STRIDE) {
      const table = await engine.table(PERF_SCHEMA);
      const dying = await PerfStore.open(dyingAfter(table, count));
      isDead = await ingestFiles(dying, files).then(
        () => false,
        () => true,
      );
      const done = await ingestFiles(await PerfStore.open(table), files);
      // All of a batch, or nothing: 1,000 files, and the rest.
      expect([0, 1000, 1100]).toContain(done.filter(({ outcome }) => outcome === 'already').length);
      expect(await dumpOfData(table)).toEqual(expected);
    }
  }, 240_000);
});
