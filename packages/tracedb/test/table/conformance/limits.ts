// What is beyond a limit is refused with an error that names it, before anything is written.
import { describe, expect, test } from 'vitest';
import type { Mutation } from '../../../src/table/wide-column-table.js';
import { deleteCell, keys, lines, rejects, row, set, type Tables, thenDo } from './suite.js';

const LIMIT = 'ERR_SPANLINE_TABLE_LIMIT';

export const limits = ({ open }: Tables): void => {
  describe('limits', () => {
    test('keys of 4,096 bytes pass everywhere, one more does not', async () => {
      const table = await open();
      for (const key of ['k'.repeat(4096), 'é'.repeat(2048), '\u{1f600}'.repeat(1024)]) {
        await table.mutateRows([row(key, set('c', 'v'))]);
        expect((await table.readRow(key))?.key).toBe(key);
        expect(await keys(table, { prefix: key })).toEqual([key]);
        expect(await table.incrementCell(key, 'V', 'n', 1)).toBe(1);
        expect(await table.checkAndMutateRow(key, { family: 'V', qualifier: 'n' }, thenDo(deleteCell('n')))).toBe(true);
        const long = `${key}a`;
        await rejects(table.mutateRows([row(long, set('c', 'v'))]), LIMIT, /4097 bytes; the limit is 4096/);
        await rejects(table.readRow(long), LIMIT, /4096/);
        await rejects(table.incrementCell(long, 'V', 'n', 1), LIMIT, /4096/);
        await rejects(
          table.checkAndMutateRow(long, { family: 'V', qualifier: 'n' }, thenDo(set('c', 'v'))),
          LIMIT,
          /4096/,
        );
      }
      expect((await keys(table)).length).toBe(3);
    });

    test('a key is well-formed text without NUL, and not empty', async () => {
      const table = await open();
      await rejects(table.mutateRows([row('', set('c', 'v'))]), LIMIT, /empty/);
      await rejects(table.mutateRows([row('a\0b', set('c', 'v'))]), LIMIT, /NUL/);
      await rejects(table.mutateRows([row('a\ud800', set('c', 'v'))]), LIMIT, /surrogate/);
      await rejects(table.mutateRows([row(7 as unknown as string, set('c', 'v'))]), LIMIT, /string/);
      await rejects(table.readRow('a\0b'), LIMIT, /NUL/);
      expect(await lines(table)).toEqual([]);
    });

    test('qualifiers of 1,024 bytes pass, one more does not', async () => {
      const table = await open();
      await table.mutateRows([row('r', set('q'.repeat(1024), 'v'))]);
      expect((await table.readRow('r', { qualifiers: ['q'.repeat(1024)] }))?.cells.length).toBe(1);
      await rejects(table.mutateRows([row('r', set('q'.repeat(1025), 'v'))]), LIMIT, /1025 bytes; the limit is 1024/);
      await rejects(table.mutateRows([row('r', set('q\0', 'v'))]), LIMIT, /NUL/);
    });

    test('the longest key takes the longest qualifier and family', async () => {
      const family = 'F'.repeat(64);
      const table = await open([family]);
      const key = 'k'.repeat(4096);
      await table.mutateRows([row(key, set('q'.repeat(1024), 'v', 1, family), set('r'.repeat(1024), 'w', 1, family))]);
      expect((await table.readRow(key))?.cells.length).toBe(2);
    });

    test('values of 10 MiB pass, one more byte does not', async () => {
      const table = await open();
      const max = Buffer.alloc(10 * 1024 * 1024, 3);
      await table.mutateRows([row('r', set('c', max))]);
      expect(Buffer.compare((await table.readRow('r'))?.cells[0]?.value as Uint8Array, max)).toBe(0);
      const more = Buffer.alloc(10 * 1024 * 1024 + 1);
      await rejects(table.mutateRows([row('s', set('c', more))]), LIMIT, /10485761 bytes/);
      await rejects(
        table.mutateRows([
          row('s', set('c', 'text' as unknown as Uint8Array)),
          row('t', { ...set('c', 'v'), value: 'v' } as never),
        ]),
        LIMIT,
        /Uint8Array/,
      );
      expect(await keys(table)).toEqual(['r']);
    });

    test('100,000 mutations in a call pass; with one more nothing is written', async () => {
      const table = await open();
      const value = Buffer.from('v');
      const mutations = (count: number): Mutation[] => Array.from({ length: count }, (_, i) => set(`c${i}`, value));
      const hundred = mutations(100);
      const rows = Array.from({ length: 1000 }, (_, i) => row(`r${String(i).padStart(4, '0')}`, ...hundred));
      await rejects(table.mutateRows([...rows, row('z', set('c', value))]), LIMIT, /100001 mutations.*100000/);
      expect(await keys(table)).toEqual([]);
      expect(table.stats()).toMatchObject({ rowsRefused: 1001, rowsWritten: 0 });
      await table.mutateRows(rows);
      let cells = 0;
      for await (const batch of table.readRows({ prefix: '' })) for (const found of batch) cells += found.cells.length;
      expect(cells).toBe(100_000);
    });

    test('a family must exist, and a row must have mutations', async () => {
      const table = await open();
      await rejects(table.mutateRows([row('r', set('c', 'v', 1, 'X'))]), LIMIT, /column family "X".*V.*S|S.*V/);
      await rejects(table.mutateRows([row('r', deleteCell('c', 'X'))]), LIMIT, /"X"/);
      await rejects(table.incrementCell('r', 'X', 'n', 1), LIMIT, /"X"/);
      await rejects(table.checkAndMutateRow('r', { family: 'X', qualifier: 'c' }, thenDo(set('c', 'v'))), LIMIT);
      await rejects(table.mutateRows([row('r')]), LIMIT, /no mutation/);
      await rejects(open([]), LIMIT, /1 to 100 families/);
      await rejects(open(['not good']), LIMIT, /not good/);
    });

    test('timestamps are whole milliseconds from 1970 to the year 9999', async () => {
      const table = await open();
      for (const time of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 253402300800000]) {
        await rejects(
          table.mutateRows([row('good', set('c', 'v')), row('r', set('c', 'v', time))]),
          LIMIT,
          /timestampMs/,
        );
      }
      expect(await lines(table)).toEqual([]);
    });

    test('a predicate compares with up to 8,192 bytes', async () => {
      const table = await open();
      const value = Buffer.alloc(8193, 7);
      await table.mutateRows([row('r', set('c', value.subarray(1)))]);
      const predicate = { family: 'V', qualifier: 'c' };
      const change = thenDo(set('d', 'v'));
      expect(await table.checkAndMutateRow('r', { ...predicate, value: value.subarray(1) }, change)).toBe(true);
      await rejects(table.checkAndMutateRow('r', { ...predicate, value }, change), LIMIT, /8192/);
    });

    test('a limit of rows is a whole number from 0', async () => {
      const table = await open();
      for (const limit of [-1, 0.5, Number.NaN]) {
        await rejects(table.readKeys({ prefix: '' }, { limit }).next(), 'ERR_SPANLINE_INVALID_INPUT', /limit/);
      }
    });
  });
};
