// A process that is killed between the values and the index of a write leaves its values to others.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import { openTable } from '../../src/table/open-table.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { onLmdb } from '../support/on-both-engines.js';

onLmdb('a writer that is killed before it writes the index', (engine) => {
  test('leaves its values to others', async () => {
    const location = await engine.location();
    const child = await bundleProgram(join(root, 'packages/tracedb/test/perf/children/killed-before-index.ts'));
    const writer = startProgram(child, [location]);
    expect(await writer.ended).toEqual({ code: null, signal: 'SIGKILL' });
    const table = await openTable(location, PERF_SCHEMA);
    try {
      const perf = await PerfStore.open(table);
      expect(await perf.countIndices(0)).toBe(0);
      expect(await perf.count(0)).toBe(100);
      expect(await perf.count(0, 'test=t7')).toBe(0);
      expect(await perf.writeIndices(0)).toBe(200);
      expect(await perf.count(0, 'test=t7')).toBe(1);
      for await (const [trace] of perf.query(0, 'test=t7')) expect(trace?.values[3]).toBe(7);
    } finally {
      await table.close();
    }
  });
});
