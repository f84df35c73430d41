// A conditional write sees the live cell only and happens once; a counter loses no increment.
import { describe, expect, test } from 'vitest';
import { deleteCell, deleteRow, lines, rejects, row, set, type Tables, thenDo } from './suite.js';

const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
const where = (value?: string | Uint8Array, qualifier = 'c', family = 'V') => ({
  family,
  qualifier,
  value: typeof value === 'string' ? Buffer.from(value) : value,
});

export const conditions = ({ open }: Tables): void => {
  describe('conditional writes', () => {
    test('by existence', async () => {
      const table = await open();
      const change = { ...thenDo(set('c', 'then', 2)), otherwise: [set('c', 'otherwise', 1)] };
      expect(await table.checkAndMutateRow('r', where(), change)).toBe(false);
      expect(await lines(table)).toEqual(['r V:c=otherwise@1']);
      expect(await table.checkAndMutateRow('r', where(), change)).toBe(true);
      expect(await lines(table)).toEqual(['r V:c=then@2']);
    });

    test('by value, whatever bytes it has', async () => {
      const table = await open();
      const values = [
        Buffer.alloc(0),
        everyByte,
        Buffer.from('.*'),
        Buffer.from('a\nb'),
        Buffer.alloc(8, 1),
        Buffer.from('\\C\\'),
        Buffer.from([0xff, 0xfe]),
        Buffer.alloc(8191, 0x80),
      ];
      for (const [i, value] of values.entries()) {
        const key = `r${i}`;
        await table.mutateRows([row(key, set('c', value))]);
        const yes = thenDo(set('seen', 'yes'));
        for (const other of [Buffer.from('x'), Buffer.concat([value, Buffer.from([0])]), value.subarray(0, -1)]) {
          if (other.equals(value)) continue;
          expect(await table.checkAndMutateRow(key, where(other), yes), `value ${i}`).toBe(false);
        }
        expect((await table.readRow(key))?.cells.length).toBe(1);
        expect(await table.checkAndMutateRow(key, where(value), yes), `value ${i}`).toBe(true);
        expect((await table.readRow(key))?.cells.length).toBe(2);
      }
    });

    test('not by a value that was overwritten, nor by one that came too late', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('c', 'old', 1))]);
      await table.mutateRows([row('r', set('c', 'live', 10))]);
      await table.mutateRows([row('r', set('c', 'late', 5))]);
      for (const value of ['old', 'late']) {
        expect(await table.checkAndMutateRow('r', where(value), thenDo(deleteRow))).toBe(false);
      }
      expect(await table.checkAndMutateRow('r', where('live'), thenDo(set('d', 'seen')))).toBe(true);
    });

    test('only by that column of that row', async () => {
      const table = await open();
      const change = thenDo(deleteRow);
      await table.mutateRows([row('r', set('c', 'x'), set('d', 'y')), row('r2', set('e', 'z'))]);
      expect(await table.checkAndMutateRow('r', where('y'), change)).toBe(false);
      expect(await table.checkAndMutateRow('r', where('x', 'd'), change)).toBe(false);
      expect(await table.checkAndMutateRow('r', where('x', 'c', 'S'), change)).toBe(false);
      expect(await table.checkAndMutateRow('r', where(undefined, 'e'), change)).toBe(false);
      expect(await table.checkAndMutateRow('r', where(undefined, ''), change)).toBe(false);
      expect(await lines(table)).toEqual(['r V:c=x@1 V:d=y@1', 'r2 V:e=z@1']);
    });

    test('with one branch only, and with deletions', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('c', 'x'), set('d', 'y'))]);
      expect(await table.checkAndMutateRow('r', where('no'), thenDo(deleteRow))).toBe(false);
      expect(await table.checkAndMutateRow('r', where('x'), { otherwise: [deleteRow] })).toBe(true);
      expect(await lines(table)).toEqual(['r V:c=x@1 V:d=y@1']);
      expect(await table.checkAndMutateRow('r', where('x'), thenDo(deleteCell('c'), set('e', 'z')))).toBe(true);
      expect(await lines(table)).toEqual(['r V:d=y@1 V:e=z@1']);
      await rejects(table.checkAndMutateRow('r', where('x'), {}), 'ERR_SPANLINE_INVALID_INPUT', /then/);
    });

    test('of many at once exactly one wins', async () => {
      const table = await open();
      const tries = Array.from({ length: 16 }, (_, i) =>
        table.checkAndMutateRow('r', where(), { otherwise: [set('c', `writer ${i}`, 16 - i)] }),
      );
      const winners = (await Promise.all(tries)).flatMap((isThere, i) => (isThere ? [] : [i]));
      expect(winners.length).toBe(1);
      expect(await lines(table)).toEqual([`r V:c=writer ${winners[0]}@${16 - (winners[0] as number)}`]);
    });

    test('a chain of writes on the value before loses nothing', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('c', '0', 1))]);
      const writer = async () => {
        for (let done = 0; done < 10; ) {
          const cell = (await table.readRow('r'))?.cells[0];
          const next = Number(Buffer.from(cell?.value as Uint8Array).toString()) + 1;
          // Timestamps go up with the value, so that a stale writer could only win through a broken condition.
          if (await table.checkAndMutateRow('r', where(cell?.value), thenDo(set('c', String(next), next + 1)))) done++;
        }
      };
      await Promise.all([1, 2, 3, 4].map(writer));
      expect(await lines(table)).toEqual(['r V:c=40@41']);
    });
  });

  describe('counters', () => {
    test('eight writers at once lose no increment, and every sum is given once', async () => {
      const table = await open();
      const sums: number[] = [];
      const writer = async () => {
        for (let i = 0; i < 25; i++) sums.push(await table.incrementCell('r', 'V', 'n', 1));
      };
      await Promise.all(Array.from({ length: 8 }, writer));
      expect(sums.sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    });

    test('a counter starts at 0, goes down too, and is an int64 in eight bytes', async () => {
      const table = await open();
      expect(await table.incrementCell('r', 'V', 'n', -5)).toBe(-5);
      expect(await table.incrementCell('r', 'V', 'n', 0)).toBe(-5);
      expect(await table.incrementCell('r', 'V', 'n', 2 ** 40)).toBe(2 ** 40 - 5);
      const value = Buffer.alloc(8);
      value.writeBigInt64BE(2n ** 40n - 5n);
      expect(Buffer.from((await table.readRow('r'))?.cells[0]?.value as Uint8Array)).toEqual(value);
      // And a condition can compare it.
      expect(await table.checkAndMutateRow('r', where(value, 'n'), thenDo(deleteRow))).toBe(true);
      expect(await table.incrementCell('r', 'V', 'n', 0)).toBe(0);
    });

    test('a written counter counts on, also from a time to come', async () => {
      const table = await open();
      const value = Buffer.alloc(8);
      value.writeBigInt64BE(41n);
      await table.mutateRows([row('r', set('n', value, 5)), row('later', set('n', value, 4102444800000))]);
      expect(await table.incrementCell('r', 'V', 'n', 1)).toBe(42);
      expect(await table.incrementCell('later', 'V', 'n', 1)).toBe(42);
      expect(await table.incrementCell('later', 'V', 'n', 1)).toBe(43);
      // Its time is now, so that a write from before does not win.
      await table.mutateRows([row('r', set('n', value, 6))]);
      expect(await table.incrementCell('r', 'V', 'n', 1)).toBe(43);
    });

    test('what is not a counter is refused and stays', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('n', 'text', 1))]);
      await rejects(table.incrementCell('r', 'V', 'n', 1), 'ERR_SPANLINE_INVALID_INPUT', /V:n of row "r".*counter/);
      await rejects(table.incrementCell('r', 'V', 'm', 0.5), 'ERR_SPANLINE_INVALID_INPUT', /safe integer/);
      await rejects(table.incrementCell('r', 'V', 'm', 2 ** 53), 'ERR_SPANLINE_INVALID_INPUT', /safe integer/);
      expect(await lines(table)).toEqual(['r V:n=text@1']);
    });

    test('a counter does not leave the safe integers', async () => {
      const table = await open();
      const max = Number.MAX_SAFE_INTEGER;
      expect(await table.incrementCell('r', 'V', 'n', max)).toBe(max);
      await rejects(table.incrementCell('r', 'V', 'n', 1), 'ERR_SPANLINE_TABLE_LIMIT', /safe integers/);
      expect(await table.incrementCell('r', 'V', 'n', -1)).toBe(max - 1);
      expect(await table.incrementCell('down', 'V', 'n', -max)).toBe(-max);
      await rejects(table.incrementCell('down', 'V', 'n', -max), 'ERR_SPANLINE_TABLE_LIMIT');
      expect(await table.incrementCell('down', 'V', 'n', 0)).toBe(-max);
    });
  });
};
