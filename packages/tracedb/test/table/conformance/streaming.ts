// A read hands out batches as they are asked for, and ends in the store too when it is broken off: no read stays open.
import { describe, expect, test, vi } from 'vitest';
import { fakeTimers } from '../../../../../test/support/fake-timers.js';
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';
import { all, numbered, plainRows, rejects, row, set, type Tables } from './suite.js';

const COUNT = 6000;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

export const streaming = ({ open }: Tables): void => {
  const filled = async (): Promise<WideColumnTable> => {
    const table = await open();
    await table.mutateRows(plainRows(numbered(COUNT)));
    return table;
  };

  describe('streaming', () => {
    test('batches hold at most some hundred rows and lose none', async () => {
      const table = await filled();
      const found: string[] = [];
      for await (const rows of table.readRows({ prefix: '' })) {
        expect(rows.length).toBeLessThanOrEqual(1000);
        expect(rows.length).toBeGreaterThan(0);
        found.push(...rows.map(({ key }) => key));
      }
      expect(found).toEqual(numbered(COUNT));
      expect(await all(table.readKeys({ prefix: '' }))).toEqual(numbered(COUNT));
    });

    test('batches are bounded by bytes too', async () => {
      const table = await open();
      await table.mutateRows(numbered(60).map((key) => row(key, set('c', Buffer.alloc(100_000)))));
      let batches = 0;
      for await (const rows of table.readRows({ prefix: '' })) {
        batches++;
        expect(rows.length).toBeLessThan(20);
      }
      expect(batches).toBeGreaterThan(3);
    });

    test('a slow caller gets every row', async () => {
      const table = await filled();
      let count = 0;
      for await (const rows of table.readRows({ prefix: '' })) {
        count += rows.length;
        await pause(1);
      }
      expect(count).toBe(COUNT);
    });

    test('breaking off ends the read', async () => {
      const table = await filled();
      for await (const rows of table.readRows({ prefix: '' })) {
        expect(table.stats().openReads).toBe(1);
        expect(rows[0]?.key).toBe('00000');
        break;
      }
      expect(table.stats().openReads).toBe(0);
    });

    test('so does an error of the caller, and return() before, between and after', async () => {
      const table = await filled();
      const failing = async () => {
        for await (const _ of table.readKeys({ prefix: '' })) throw new Error('mine');
      };
      await expect(failing()).rejects.toThrow('mine');
      expect(table.stats().openReads).toBe(0);

      const unused = table.readRows({ prefix: '' });
      await unused.return?.();
      expect(await unused.next()).toEqual({ done: true, value: undefined });

      const used = table.readRows({ prefix: '' });
      expect((await used.next()).done).toBe(false);
      await used.return?.();
      expect(table.stats().openReads).toBe(0);
      expect(await used.next()).toEqual({ done: true, value: undefined });
      await used.return?.();

      const waiting = table.readRows({ prefix: '' });
      const first = waiting.next();
      await waiting.return?.();
      await first;
      expect(await waiting.next()).toEqual({ done: true, value: undefined });
      expect(table.stats().openReads).toBe(0);
    });

    test('batches asked for at once come in order', async () => {
      const table = await filled();
      const batches = table.readKeys({ prefix: '' });
      const found: string[] = [];
      for (;;) {
        const results = await Promise.all([batches.next(), batches.next(), batches.next()]);
        for (const { value } of results) found.push(...(value ?? []));
        if (results[2]?.done) break;
      }
      expect(found).toEqual(numbered(COUNT));
    });

    test('several reads go on side by side', async () => {
      const table = await filled();
      const one = table.readKeys({ prefix: '' });
      const two = table.readKeys({ start: '03000' });
      await one.next();
      expect((await two.next()).value?.[0]).toBe('03000');
      expect(table.stats().openReads).toBe(2);
      const third = await all(table.readKeys({ prefix: '' }));
      expect(third.length).toBe(COUNT);
      await Promise.all([all(one), all(two)]);
      expect(table.stats().openReads).toBe(0);
    });
  });

  describe('stopping', () => {
    test('a signal that fired before stops every call, and nothing is written', async () => {
      const table = await filled();
      const signal = AbortSignal.abort(new Error('why'));
      const aborted = 'ERR_SPANLINE_ABORTED';
      await rejects(all(table.readRows({ prefix: '' }, { signal })), aborted);
      await rejects(all(table.readKeys({ keys: ['00001'] }, { signal })), aborted);
      await rejects(table.readRow('00001', { signal }), aborted);
      await rejects(table.mutateRows([row('new', set('c', 'v'))], { signal }), aborted);
      await rejects(table.incrementCell('new', 'V', 'n', 1, { signal }), aborted);
      const change = { otherwise: [set('c', 'v')] };
      const predicate = { family: 'V', qualifier: 'c' };
      await rejects(table.checkAndMutateRow('new', predicate, change, { signal }), aborted);
      expect(await table.readRow('new')).toBeUndefined();
      expect(table.stats().openReads).toBe(0);
    });

    test('a signal that fires during a read ends it with its reason', async () => {
      const table = await filled();
      const controller = new AbortController();
      const batches = table.readRows({ prefix: '' }, { signal: controller.signal });
      await batches.next();
      const reason = new Error('enough');
      controller.abort(reason);
      await expect(batches.next()).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED', cause: reason });
      expect(table.stats().openReads).toBe(0);
      expect(await batches.next()).toEqual({ done: true, value: undefined });
      expect((await all(table.readKeys({ prefix: '' }))).length).toBe(COUNT);
    });

    test('a read that nobody asks any more ends with its signal or its deadline', async () => {
      const table = await filled();
      const controller = new AbortController();
      // However long the first batches take here, the deadline comes behind them.
      fakeTimers('setTimeout', 'clearTimeout');
      const aborted = table.readRows({ prefix: '' }, { signal: controller.signal });
      const late = table.readKeys({ prefix: '' }, { deadlineMs: 200 });
      await Promise.all([aborted.next(), late.next()]);
      expect(table.stats().openReads).toBe(2);
      controller.abort();
      expect(table.stats().openReads).toBe(1);
      vi.advanceTimersByTime(199);
      expect(table.stats().openReads).toBe(1);
      vi.advanceTimersByTime(1);
      expect(table.stats().openReads).toBe(0);
      await rejects(aborted.next(), 'ERR_SPANLINE_ABORTED');
      await rejects(late.next(), 'ERR_SPANLINE_DEADLINE');
      expect(table.stats().openReads).toBe(0);
    });

    test('a deadline that passes ends the read, never as if it were whole', async () => {
      const table = await filled();
      const read = async () => {
        for await (const _ of table.readRows({ prefix: '' }, { deadlineMs: 20 })) await pause(60);
      };
      await rejects(read(), 'ERR_SPANLINE_DEADLINE', /20 ms|deadline/i);
      expect(table.stats().openReads).toBe(0);
    });

    test('a deadline must be a number above 0', async () => {
      const table = await open();
      for (const deadlineMs of [0, -1, Number.NaN, '5' as unknown as number]) {
        await rejects(all(table.readRows({ prefix: '' }, { deadlineMs })), 'ERR_SPANLINE_INVALID_INPUT', /deadlineMs/);
        await rejects(table.mutateRows([row('r', set('c', 'v'))], { deadlineMs }), 'ERR_SPANLINE_INVALID_INPUT');
      }
      expect(await table.readRow('r', { deadlineMs: Number.POSITIVE_INFINITY })).toBeUndefined();
    });
  });
};
