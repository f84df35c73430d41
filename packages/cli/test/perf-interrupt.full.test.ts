// Ctrl-C leaves a store that goes on. In this process: the signal comes while the command waits for a batch, however busy the machine is.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { PERF_SCHEMA, PerfStore } from '../../tracedb/src/perf/perf-store.js';
import { openTable } from '../../tracedb/src/table/open-table.js';
import { dump } from '../../tracedb/test/perf/support/dump.js';
import { scratch, spanline } from './support/spanline.js';

const dir = scratch();

/** A batch is of a thousand. */
const ENTRIES = 4000;
const long = join(dir, 'long.jsonl');
writeFileSync(
  long,
  Array.from({ length: ENTRIES }, (_, i) =>
    JSON.stringify({ commit: `c${i}`, date: 1000 + i, benches: [{ name: 'draw', value: i, unit: 'ms' }] }),
  ).join('\n'),
);

const dumpOf = async (place: string): Promise<string[]> => {
  const table = await openTable(place, PERF_SCHEMA);
  try {
    return await dump(table);
  } finally {
    await table.close();
  }
};

/** Calls `then` once the second of the four batches that the command makes of the file is in the store. */
const afterSecondBatch = (then: () => void): void => {
  const { write } = PerfStore.prototype;
  let batches = 0;
  vi.spyOn(PerfStore.prototype, 'write').mockImplementation(async function (this: PerfStore, ...args) {
    const result = await write.apply(this, args);
    if (++batches === 2) then();
    return result;
  });
};

describe('Ctrl-C', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    '%s in the middle of ingest ends with %i, and the same command goes on from there',
    async (name, code) => {
      const place = join(dir, `cut-${name}`);
      const args = ['perf', 'ingest', '--store', place, long, '--json'];
      const outcome = await spanline(args, { onStart: (kill) => afterSecondBatch(() => kill(name)) });
      vi.restoreAllMocks();
      expect(outcome).toMatchObject({ code, signal: null, stdout: '' });
      expect(outcome.stderr).toContain(
        `spanline: interrupted by ${name}; the store is whole, and the same command goes on`,
      );
      const again = await spanline(args);
      expect(again).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(again.stdout)).toMatchObject([{ outcome: 'resumed' }]);
      expect((await spanline(args)).stdout).toContain('"already"');
      // The store is the one that nobody interrupted.
      const whole = join(dir, 'whole');
      if (!existsSync(whole)) await spanline(['perf', 'ingest', '--store', whole, long]);
      expect(await dumpOf(place)).toEqual(await dumpOf(whole));
    },
  );
});
