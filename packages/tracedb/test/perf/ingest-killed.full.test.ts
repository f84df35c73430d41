// A file whose writer dies is completed by the next one, and the store is the one made in one go.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { samples } from '../../../../test/support/samples.js';
import { ingestFile } from '../../src/perf/ingest-files.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { openTable } from '../../src/table/open-table.js';
import { fileWith } from '../ingest/support/ingest-files.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { onLmdb } from '../support/on-both-engines.js';
import { dumpOfData } from './support/dump.js';
import { dyingAfter } from './support/dying-table.js';
import { jsonLines } from './support/json-lines.js';

// The first write, the one so many later, and so on is the last one.
const STRIDE = samples(2, 2, 1);

onLmdb('a writer that dies', (engine) => {
  test('before any of its writes is completed by the next one', async () => {
    const path = fileWith(jsonLines(1050));
    const whole = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 1024 });
    await ingestFile(whole, path, { name: 'history' });
    const expected = await dumpOfData(whole.table);
    let outcomes = '';
    for (let count = 1; ; count += STRIDE) {
      const table = await engine.table(PERF_SCHEMA);
      const dying = await PerfStore.open(dyingAfter(table, count), { tileSize: 1024 });
      const death = await ingestFile(dying, path, { name: 'history' }).then(
        () => 'none',
        (error: Error) => error.message,
      );
      const { outcome } = await ingestFile(await PerfStore.open(table), path, { name: 'history' });
      outcomes += outcome[0];
      expect(await dumpOfData(table)).toEqual(expected);
      if (death === 'none') break;
      expect(death).toBe('died');
    }
    // Written anew until the first batch was done, then resumed, and at the end there was nothing to do.
    expect(outcomes).toMatch(/^w+r+a$/);
  });

  test('by the hand of the system, too', async () => {
    const path = fileWith(jsonLines(6000), 'history.jsonl');
    const whole = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 1024 });
    await ingestFile(whole, path, { name: 'history' });
    const location = await engine.location();
    const child = await bundleProgram(join(root, 'packages/tracedb/test/perf/children/ingest.ts'));
    for (let kills = 0; kills < 3; kills++) {
      const writer = startProgram(child, [location, path]);
      await writer.line((line) => line.startsWith('at '));
      writer.process.kill('SIGKILL');
      await writer.ended;
    }
    const last = startProgram(child, [location, path]);
    expect(await last.ended).toEqual({ code: 0, signal: null });
    const outcome = await last.line((line) => line.startsWith('{'));
    expect(JSON.parse(outcome)).toMatchObject({ outcome: expect.stringMatching(/resumed|already/) });
    const table = await openTable(location, PERF_SCHEMA);
    try {
      expect(await dumpOfData(table)).toEqual(await dumpOfData(whole.table));
    } finally {
      await table.close();
    }
  });
});
