// A read returns only the cells its filters name, and only rows that have one.
import { describe, expect, test } from 'vitest';
import { all, keys, lines, row, set, type Tables } from './suite.js';

// Each has a meaning in a regular expression, or is close to one that has.
const ODD_QUALIFIERS = [
  '',
  '.',
  '.*',
  'a|b',
  'a',
  'b',
  '(a)',
  '[ab]',
  'a+',
  '\\',
  '\\d',
  '\\C',
  '^a$',
  'a\nb',
  '\r\t',
  '\x01\x7f',
  'x{2}',
  'xx',
  '/',
  '-',
  'é',
  'ÿ',
  '\u0080',
  '日本',
  '\u{1f600}',
  '\ufffd',
];

export const filters = ({ open }: Tables): void => {
  describe('filters', () => {
    const filled = async () => {
      const table = await open(['V', 'S', 'VS']);
      await table.mutateRows([
        row('1', set('0', 'v0'), set('1', 'v1'), set('0', 's0', 1, 'S')),
        row('2', set('1', 'v1')),
        row('3', set('0', 's0', 1, 'S')),
        row('4', set('00', 'v00'), set('0', 'vs', 1, 'VS')),
      ]);
      return table;
    };

    test('by family', async () => {
      const table = await filled();
      expect(await lines(table, undefined, { families: ['S'] })).toEqual(['1 S:0=s0@1', '3 S:0=s0@1']);
      expect(await lines(table, undefined, { families: ['V', 'S'] })).toEqual([
        '1 S:0=s0@1 V:0=v0@1 V:1=v1@1',
        '2 V:1=v1@1',
        '3 S:0=s0@1',
        '4 V:00=v00@1',
      ]);
      expect(await keys(table, undefined, { families: ['VS'] })).toEqual(['4']);
      expect(await keys(table, undefined, { families: ['none'] })).toEqual([]);
      expect(await keys(table, undefined, { families: [] })).toEqual([]);
    });

    test('by qualifier, which must be the whole one', async () => {
      const table = await filled();
      expect(await lines(table, undefined, { qualifiers: ['0'] })).toEqual([
        '1 S:0=s0@1 V:0=v0@1',
        '3 S:0=s0@1',
        '4 VS:0=vs@1',
      ]);
      expect(await lines(table, undefined, { qualifiers: ['00', '1'] })).toEqual([
        '1 V:1=v1@1',
        '2 V:1=v1@1',
        '4 V:00=v00@1',
      ]);
      expect(await keys(table, undefined, { qualifiers: [] })).toEqual([]);
      expect(await keys(table, undefined, { qualifiers: ['none'] })).toEqual([]);
    });

    test('by both, with a limit that counts only rows that are returned', async () => {
      const table = await filled();
      expect(await lines(table, undefined, { families: ['V'], qualifiers: ['0', '1'], limit: 2 })).toEqual([
        '1 V:0=v0@1 V:1=v1@1',
        '2 V:1=v1@1',
      ]);
      expect(await keys(table, undefined, { families: ['S'], qualifiers: ['0'], limit: 1 })).toEqual(['1']);
      expect(await keys(table, { keys: ['4', '3', '2'] }, { families: ['S'] })).toEqual(['3']);
    });

    test('one row with filters', async () => {
      const table = await filled();
      expect((await table.readRow('1', { families: ['S'] }))?.cells.map(({ qualifier }) => qualifier)).toEqual(['0']);
      expect(await table.readRow('2', { families: ['S'] })).toBeUndefined();
    });

    test('qualifiers are taken as they are written, whatever they mean elsewhere', async () => {
      const table = await open();
      await table.mutateRows([row('r', ...ODD_QUALIFIERS.map((qualifier) => set(qualifier, 'v')))]);
      for (const qualifier of ODD_QUALIFIERS) {
        const found = await all(table.readRows({ prefix: '' }, { qualifiers: [qualifier] }));
        expect(found.map(({ cells }) => cells.map((cell) => cell.qualifier))).toEqual([[qualifier]]);
      }
      const found = await table.readRow('r', { qualifiers: ODD_QUALIFIERS });
      expect(found?.cells.length).toBe(ODD_QUALIFIERS.length);
    });

    test('thousands of qualifiers, more than a request of the store has room for', async () => {
      const table = await open();
      const names = Array.from({ length: 4000 }, (_, i) => `qualifier-${i}`);
      await table.mutateRows([
        row('a', ...names.slice(0, 2000).map((name) => set(name, 'v')), set('other', 'v')),
        row('b', set('other', 'v')),
        row('c', set('qualifier-7', 'v'), set('other', 'v')),
        row('d', set('qualifier-8', 'v')),
      ]);
      const options = { qualifiers: names };
      const found = await all(table.readRows({ prefix: '' }, options));
      expect(found.map(({ key, cells }) => `${key} ${cells.length}`)).toEqual(['a 2000', 'c 1', 'd 1']);
      expect(await keys(table, undefined, options)).toEqual(['a', 'c', 'd']);
      expect(await keys(table, undefined, { ...options, limit: 2 })).toEqual(['a', 'c']);
    });

    test('keys are read without cells, whatever the cells are', async () => {
      const table = await filled();
      await table.mutateRows([row('5', set('big', Buffer.alloc(1_000_000)))]);
      expect(await all(table.readKeys({ prefix: '' }))).toEqual(['1', '2', '3', '4', '5']);
    });
  });
};
