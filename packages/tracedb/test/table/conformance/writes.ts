// A cell has one value: that of the newest timestamp, and of the last write among equal ones.
import { describe, expect, test } from 'vitest';
import { deleteCell, deleteRow, lines, row, set, type Tables } from './suite.js';

const LAST_MS = 253402300799999;

export const writes = ({ open }: Tables): void => {
  describe('writes and timestamps', () => {
    test('an older write never wins, an equal one replaces', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('c', 'new', 20))]);
      await table.mutateRows([row('r', set('c', 'old', 10))]);
      expect(await lines(table)).toEqual(['r V:c=new@20']);
      await table.mutateRows([row('r', set('c', 'equal', 20))]);
      expect(await lines(table)).toEqual(['r V:c=equal@20']);
      await table.mutateRows([row('r', set('c', 'newer', 21))]);
      expect(await lines(table)).toEqual(['r V:c=newer@21']);
    });

    test('nor does it win within one call, in whatever order', async () => {
      const table = await open();
      await table.mutateRows([
        row('a', set('c', 'new', 20), set('c', 'old', 10)),
        row('b', set('c', 'old', 10), set('c', 'new', 20)),
        row('c', set('c', 'first', 20), set('c', 'second', 20)),
        row('d', set('c', 'new', 20)),
        row('d', set('c', 'old', 10)),
        row('e', set('c', 'first', 20)),
        row('e', set('c', 'second', 20)),
      ]);
      expect(await lines(table)).toEqual([
        'a V:c=new@20',
        'b V:c=new@20',
        'c V:c=second@20',
        'd V:c=new@20',
        'e V:c=second@20',
      ]);
    });

    test('a cell that was deleted takes an older write again, and no overwritten value comes back', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('c', 'old', 10), set('d', 'd', 5))]);
      await table.mutateRows([row('r', set('c', 'new', 20))]);
      await table.mutateRows([row('r', deleteCell('c'))]);
      expect(await lines(table)).toEqual(['r V:d=d@5']);
      await table.mutateRows([row('r', set('c', 'older', 5))]);
      expect(await lines(table)).toEqual(['r V:c=older@5 V:d=d@5']);
    });

    test('mutations of a row happen in their order', async () => {
      const table = await open();
      await table.mutateRows([row('a', set('c', '1')), row('b', set('c', '1')), row('c', set('c', '1', 1, 'S'))]);
      await table.mutateRows([
        row('a', set('d', '2'), deleteRow, set('e', '3')),
        row('b', set('d', '2'), deleteRow),
        row('c', deleteCell('c', 'S'), set('c', '2', 0, 'S')),
        row('missing', deleteRow),
        row('missing', deleteCell('c')),
        row('f', deleteRow, set('c', '4')),
        row('f', deleteRow),
        row('f', set('c', '5')),
      ]);
      expect(await lines(table)).toEqual(['a V:e=3@1', 'c S:c=2@0', 'f V:c=5@1']);
    });

    test('a row whose last cell is deleted is gone', async () => {
      const table = await open();
      await table.mutateRows([row('a', set('c', '1'), set('c', '1', 1, 'S')), row('b', set('c', '1'))]);
      await table.mutateRows([row('a', deleteCell('c'), deleteCell('c', 'S')), row('b', deleteRow)]);
      expect(await lines(table)).toEqual([]);
      expect(await table.readRow('a')).toBeUndefined();
    });

    test('deleting a row leaves rows whose keys begin with its key', async () => {
      const table = await open();
      const long = 'x'.repeat(4000);
      const names = ['a', 'a\x01', 'aa', 'a\u{10ffff}', long, `${long}y`, `${long}\x01`];
      await table.mutateRows(names.map((name) => row(name, set('c', 'v'))));
      await table.mutateRows([row('a', deleteRow), row(long, deleteRow)]);
      expect(await lines(table)).toEqual(
        ['a\x01', 'aa', 'a\u{10ffff}', `${long}\x01`, `${long}y`].map((key) => `${key} V:c=v@1`),
      );
    });

    test('timestamps from 1970 to the year 9999 come back exactly', async () => {
      const table = await open();
      const times = [0, 1, 999, 1700000000001, 9007199254740, 9007199254741, LAST_MS - 1, LAST_MS];
      await table.mutateRows([row('r', ...times.map((time) => set(String(time), 'v', time)))]);
      const found = await table.readRow('r');
      expect(found?.cells.map(({ timestampMs }) => timestampMs).sort((a, b) => a - b)).toEqual(times);
      expect(found?.cells.every(({ qualifier, timestampMs }) => qualifier === String(timestampMs))).toBe(true);
    });

    test('values of any bytes and sizes come back as they were, those of eight bytes too', async () => {
      const table = await open();
      const everyByte = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
      const values = [
        Buffer.alloc(0),
        Buffer.from([0]),
        Buffer.from([0xff]),
        everyByte,
        Buffer.alloc(8),
        Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]),
        Buffer.alloc(8, 0xff),
        Buffer.from('12345678'),
        Buffer.from([0x80, 0, 0, 0, 0, 0, 0, 0]),
        Buffer.alloc(3_000_000, 'ab'),
        // A view on a part of a larger buffer.
        new Uint8Array(everyByte.buffer, everyByte.byteOffset + 5, 3),
      ];
      await table.mutateRows([row('r', ...values.map((value, i) => set(String.fromCharCode(97 + i), value)))]);
      const found = await table.readRow('r');
      expect(found?.cells.length).toBe(values.length);
      for (const [i, value] of values.entries()) {
        expect(Buffer.compare(found?.cells[i]?.value as Uint8Array, value), `value ${i}`).toBe(0);
        expect(found?.cells[i]?.value).toBeInstanceOf(Uint8Array);
      }
    });

    test('a value that was read stays as it was while others are read and written', async () => {
      const table = await open();
      await table.mutateRows([row('a', set('c', 'first'))]);
      const before = await table.readRow('a');
      await table.mutateRows([row('a', set('c', 'other', 2)), row('b', set('c', Buffer.alloc(100_000, 7)))]);
      await lines(table);
      expect(Buffer.from(before?.cells[0]?.value as Uint8Array).toString()).toBe('first');
    });

    test('a call without rows writes nothing', async () => {
      const table = await open();
      await table.mutateRows([]);
      expect(await lines(table)).toEqual([]);
    });

    test('a call of thousands of rows, some twice, writes them all', async () => {
      const table = await open();
      const many = Array.from({ length: 4500 }, (_, i) => row(`r${i % 3000}`, set(`c${i}`, 'v')));
      await table.mutateRows(many);
      const counts = new Map<number, number>();
      for await (const rows of table.readRows({ prefix: '' })) {
        for (const { cells } of rows) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
      }
      expect(Object.fromEntries(counts)).toEqual({ 1: 1500, 2: 1500 });
    });
  });
};
