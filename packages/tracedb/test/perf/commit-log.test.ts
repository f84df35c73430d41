// A commit has one number, given once and for all; numbers have the order in which commits were made known, wherever who
// makes them known dies.
import { expect, test } from 'vitest';
import { CommitLog } from '../../src/perf/commit-log.js';
import { PERF_SCHEMA } from '../../src/perf/perf-store.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { dump } from './support/dump.js';
import { dyingAfter, recordingWrites } from './support/dying-table.js';

const hashes = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ({ hash: `c${from + i}` }));
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

onBothEngines('commits', (engine) => {
  test('are numbered in the order they come, known ones keep their number', async () => {
    const log = new CommitLog(await engine.table(PERF_SCHEMA));
    expect(await log.add([])).toEqual([]);
    expect(await log.add([{ hash: 'b', timestampMs: 5 }, { hash: 'a' }, { hash: 'b' }])).toEqual([0, 1, 0]);
    expect(await log.add([{ hash: 'z' }, { hash: 'a' }, { hash: 'y' }])).toEqual([2, 1, 3]);
    expect(await log.list()).toEqual([
      { number: 0, hash: 'b', timestampMs: 5 },
      { number: 1, hash: 'a' },
      { number: 2, hash: 'z' },
      { number: 3, hash: 'y' },
    ]);
    expect(await log.list({ from: 1, to: 2 })).toEqual([
      { number: 1, hash: 'a' },
      { number: 2, hash: 'z' },
    ]);
    expect(await log.list({ from: 3, to: Number.MAX_SAFE_INTEGER })).toEqual([{ number: 3, hash: 'y' }]);
    expect(await log.list({ from: 4 })).toEqual([]);
    expect(await log.list({ from: 3, to: 1 })).toEqual([]);
  });

  test('more than one list of numbers holds', async () => {
    const { table, calls } = recordingWrites(await engine.table(PERF_SCHEMA));
    const log = new CommitLog(table);
    expect(await log.add(hashes(0, 2345))).toEqual(numbers(0, 2345));
    expect((await log.list()).map(({ hash }) => hash)).toEqual(hashes(0, 2345).map(({ hash }) => hash));
    calls.length = 0;
    // What is known costs no write.
    expect(await log.add(hashes(1000, 2345))).toEqual(numbers(1000, 2345));
    expect(calls).toEqual([]);
  });

  test('are found by their hash, or by a beginning that only they have', async () => {
    const log = new CommitLog(await engine.table(PERF_SCHEMA));
    await log.add([{ hash: 'abc1', timestampMs: 7 }, { hash: 'abc2' }, { hash: 'abc' }, { hash: 'x' }]);
    expect(await log.find('abc1')).toEqual({ hash: 'abc1', number: 0, timestampMs: 7 });
    expect(await log.find('abc2')).toMatchObject({ number: 1 });
    expect(await log.find('abc')).toMatchObject({ number: 2 });
    await expect(log.find('ab')).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
      message: expect.stringContaining('several commits begin with ab'),
    });
    await expect(log.find('abcd')).rejects.toMatchObject({
      code: 'ERR_SPANLINE_NOT_FOUND',
      message: expect.stringContaining('spanline perf commits'),
    });
  });

  test.each([[''], ['a b'], ['a\n'], ['a\0'], ['x'.repeat(257)], [undefined]])(
    '%j is not a hash, and nothing is added',
    async (hash) => {
      const table = await engine.table(PERF_SCHEMA);
      const log = new CommitLog(table);
      const added = log.add([{ hash: 'good' }, { hash: hash as string }]);
      await expect(added).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
      await expect(log.add([{ hash: 'good', timestampMs: Number.NaN }])).rejects.toMatchObject({
        code: 'ERR_SPANLINE_INVALID_INPUT',
      });
      expect(await dump(table)).toEqual([]);
    },
  );

  test('added by one that dies anywhere keep their numbers, and are completed by whoever adds next', async () => {
    for (let count = 0; ; count++) {
      const table = await engine.table(PERF_SCHEMA);
      await new CommitLog(table).add(hashes(0, 2));
      const death = await new CommitLog(dyingAfter(table, count)).add(hashes(1, 5)).then(
        () => 'none',
        (error: Error) => error.message,
      );
      const next = new CommitLog(table);
      // Those that got numbers before the death keep them.
      const isNumbered = count > 0;
      expect(await next.add(hashes(7, 8))).toEqual([isNumbered ? 5 : 2]);
      const expected = [...hashes(0, isNumbered ? 5 : 2), { hash: 'c7' }];
      expect((await next.list()).map(({ hash }) => ({ hash }))).toEqual(expected);
      expect(await next.add(expected)).toEqual(numbers(0, expected.length));
      for (const [number, { hash }] of expected.entries()) expect(await next.find(hash)).toMatchObject({ number });
      if (death === 'none') {
        // The number, the rows by number, the rows by hash.
        expect(count).toBe(3);
        break;
      }
      expect(death).toBe('died');
    }
  });

  test('numbers never go back, even where the clock does', async () => {
    const table = await engine.table(PERF_SCHEMA);
    await new CommitLog(table).add(hashes(0, 3));
    const cell = (await table.readRow('!perf', { qualifiers: ['N'] }))?.cells[0];
    // As if it had been written by a process whose clock is a year ahead.
    const timestampMs = Date.now() + 366 * 86_400_000;
    await table.mutateRows([
      {
        key: '!perf',
        mutations: [
          { type: 'set', family: 'C', qualifier: 'N', value: cell?.value as Uint8Array, timestampMs },
          { type: 'set', family: 'C', qualifier: 'L', value: Buffer.from('[]'), timestampMs },
        ],
      },
    ]);
    const log = new CommitLog(table);
    expect(await log.add(hashes(3, 5))).toEqual([3, 4]);
    expect(await log.add(hashes(5, 6))).toEqual([5]);
    expect(await new CommitLog(table).add(hashes(0, 7))).toEqual(numbers(0, 7));
  });

  test('a row that is none of them is an error', async () => {
    const table = await engine.table(PERF_SCHEMA);
    const log = new CommitLog(table);
    await log.add(hashes(0, 2));
    const set = (key: string, qualifier: string, text: string) =>
      table.mutateRows([
        {
          key,
          mutations: [
            { type: 'set', family: 'C', qualifier, value: Buffer.from(text), timestampMs: Date.now() + 1000 },
          ],
        },
      ]);
    await set('hc1', 'J', '{}');
    await expect(log.find('c1')).rejects.toMatchObject({ code: 'ERR_SPANLINE_STORE_CORRUPT' });
    await set('!perf', 'N', '\0\0\0\0\0\0\0\x02');
    await expect(log.add(hashes(2, 3))).rejects.toMatchObject({
      code: 'ERR_SPANLINE_STORE_CORRUPT',
      message: expect.stringContaining('row !perf'),
    });
  });
});
