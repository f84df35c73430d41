// However many processes make commits known at once, each commit has one number, in the order of the lists.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../../../test/support/child.js';
import { samples } from '../../../../test/support/samples.js';
import { CommitLog } from '../../src/perf/commit-log.js';
import { PERF_SCHEMA } from '../../src/perf/perf-store.js';
import { openTable } from '../../src/table/open-table.js';
import { bundleProgram, startProgram } from '../support/child.js';
import { onBothEngines } from '../support/on-both-engines.js';

const hashes = (count: number) => Array.from({ length: count }, (_, i) => ({ hash: `c${i}` }));
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

onBothEngines('commits', (engine) => {
  test('of four processes that add overlapping lists at once: one number each, without gaps, in the order of the lists', async () => {
    const WRITERS = 4;
    const ROUNDS = samples(5, 5, 12);
    const location = await engine.location();
    const child = await bundleProgram(join(root, 'packages/tracedb/test/perf/children/add-commits.ts'));
    const writers = Array.from({ length: WRITERS }, () => startProgram(child, [location]));
    const all = (line: string) => Promise.all(writers.map((writer) => writer.line((found) => found === line)));
    await all('ready');
    for (let round = 0; round < ROUNDS; round++) {
      // Every list begins with commits of lists before it, and ends at another place than those of the other writers.
      for (const [i, writer] of writers.entries()) {
        writer.process.stdin?.write(`${Math.max(0, round * 20 - 15)} ${round * 20 + 5 + i * 5}\n`);
      }
      await all(`round ${round}`);
    }
    await Promise.all(writers.map((writer) => writer.finish()));
    const table = await openTable(location, PERF_SCHEMA);
    try {
      const total = (ROUNDS - 1) * 20 + 20;
      const expected = numbers(total).map((number) => ({
        number,
        hash: `c${number}`,
        timestampMs: 1_000_000 + number,
      }));
      expect(await new CommitLog(table).list()).toEqual(expected);
      expect(await new CommitLog(table).add(hashes(total))).toEqual(numbers(total));
      const conflicts = await Promise.all(
        writers.map(async (writer) => Number((await writer.line((line) => line.startsWith('refused'))).split(' ')[1])),
      );
      // They did meet, or this proves nothing. In twelve rounds they do not less than once in a million times, as long as they meet in seven of
      // ten (0.3 ** 12); all get their list at once, and each waits several times for the store.
      expect(conflicts.reduce((sum, one) => sum + one)).toBeGreaterThan(0);
    } finally {
      await table.close();
    }
  }, 240_000);
});
