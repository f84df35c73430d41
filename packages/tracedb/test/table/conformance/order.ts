// Rows come in the order of their UTF-8 bytes, and a selection visits exactly the rows it names.
import { describe, expect, test } from 'vitest';
import { brief, byBytes, lines, numbered, plainRows, row, set, type Tables, keys as wholeKeys } from './suite.js';

const keys = async (...read: Parameters<typeof wholeKeys>): Promise<string[]> => (await wholeKeys(...read)).map(brief);

// In UTF-16 the characters beyond U+FFFF come before U+E000 to U+FFFF; in UTF-8 they come after.
const KEYS = [
  '\x01',
  '\n',
  '!',
  '00',
  '0:a',
  'a',
  'a\x01',
  'a ',
  'aa',
  'a\x7f',
  'a\u0080',
  'aé',
  'aÿ',
  'a\u07ff',
  'a\u0800',
  'a\ud7ff',
  'a\ue000',
  'a\uffee',
  'a\uffff',
  'a\u{10000}',
  'a\u{1f600}',
  'a\u{10ffff}',
  'a\u{10ffff}\u{10ffff}',
  'b',
  '~',
  '\x7f',
  'é',
  '日本',
  '\ufffd',
  '\u{1f600}',
  '\u{10ffff}',
  '\u{10ffff}a',
  '\u{10ffff}\u{10ffff}',
  'x'.repeat(4096),
  `${'x'.repeat(4095)}y`,
  'x'.repeat(2048),
  `${'x'.repeat(2048)}\u{10ffff}`,
  `${'é'.repeat(1000)}a`,
];

const shuffled = (items: readonly string[]): string[] => {
  let seed = 7;
  return items
    .map((item) => {
      seed = (seed * 1103515245 + 12345) % 2147483648;
      return { item, seed };
    })
    .sort((a, b) => a.seed - b.seed)
    .map(({ item }) => item);
};

const sorted = [...KEYS].sort(byBytes);

export const order = ({ open }: Tables): void => {
  const filled = async () => {
    const table = await open();
    await table.mutateRows(plainRows(shuffled(KEYS)));
    return table;
  };

  describe('order and selection', () => {
    test('the whole table comes in byte order', async () => {
      expect(await keys(await filled())).toEqual(sorted.map(brief));
    });

    test('every prefix of every key selects the rows that start with it', async () => {
      const table = await filled();
      const prefixes = new Set(
        KEYS.flatMap((key) => [key, [...key].slice(0, 1).join(''), [...key].slice(0, -1).join('')]),
      );
      for (const prefix of [...prefixes, 'none', '\u{10fffe}', `${'x'.repeat(4096)}x`]) {
        const wanted = sorted.filter((key) => key.startsWith(prefix));
        expect(await keys(table, { prefix }), JSON.stringify(prefix.slice(0, 20))).toEqual(wanted.map(brief));
      }
    });

    test('a range has its start and not its end', async () => {
      const table = await filled();
      const bounds = [undefined, '', 'a', 'a\uffff', 'a\u{10000}', 'b', 'x'.repeat(4096), '\u{10ffff}', 'zz'];
      for (const start of bounds) {
        for (const end of bounds) {
          const wanted = sorted.filter(
            (key) => (start === undefined || byBytes(key, start) >= 0) && (end === undefined || byBytes(key, end) < 0),
          );
          expect(await keys(table, { start, end }), JSON.stringify([start, end])).toEqual(wanted.map(brief));
        }
      }
    });

    test('a bound may be a key with NUL behind it: right after the key', async () => {
      const table = await open();
      await table.mutateRows(plainRows(['a', 'a\x01', 'ab', 'b']));
      expect(await keys(table, { start: 'a\0' })).toEqual(['a\x01', 'ab', 'b']);
      expect(await keys(table, { start: 'a', end: 'a\0' })).toEqual(['a']);
      expect(await keys(table, { prefix: 'a\0' })).toEqual([]);
    });

    test('a list of keys gives each row once, in byte order, and skips what is missing', async () => {
      const table = await filled();
      const wanted = ['b', 'missing', 'a', 'b', '\u{1f600}', '\ufffd', 'a\u{10ffff}', 'a', 'x'.repeat(4096)];
      expect(await keys(table, { keys: wanted })).toEqual([
        'a',
        'a\u{10ffff}',
        'b',
        brief('x'.repeat(4096)),
        '\ufffd',
        '\u{1f600}',
      ]);
      expect(await keys(table, { keys: ['missing'] })).toEqual([]);
      expect(await keys(table, { keys: [] })).toEqual([]);
    });

    test('a list of thousands of keys is read whole', async () => {
      const table = await open();
      const present = numbered(3000);
      await table.mutateRows(plainRows(present));
      // Three times each: wherever a store cuts the list, it cuts between two of a kind.
      const asked = [...present, ...present, ...present, 'missing'];
      expect(await keys(table, { keys: shuffled(asked) })).toEqual(present);
      expect(await keys(table, { keys: asked }, { limit: 2500 })).toEqual(present.slice(0, 2500));
    });

    test('a limit cuts after so many rows', async () => {
      const table = await filled();
      for (const limit of [0, 1, 2, sorted.length - 1, sorted.length, 1000]) {
        expect(await keys(table, { prefix: '' }, { limit })).toEqual(sorted.slice(0, limit).map(brief));
      }
      expect(await keys(table, { start: 'a', end: 'b' }, { limit: 3 })).toEqual(
        sorted
          .filter((key) => byBytes(key, 'a') >= 0)
          .slice(0, 3)
          .map(brief),
      );
    });

    test('cells of a row come by family and qualifier, in byte order', async () => {
      const table = await open(['b', 'a', 'B']);
      const qualifiers = ['z', '10', '9', 'é', '\uffff', '\u{10000}', '', 'constructor', '__proto__'];
      await table.mutateRows([
        row('r', ...['b', 'B', 'a'].flatMap((family) => qualifiers.map((q) => set(q, 'v', 1, family)))),
      ]);
      const found = await table.readRow('r');
      const wanted = ['B', 'a', 'b'].flatMap((family) => [...qualifiers].sort(byBytes).map((q) => `${family}:${q}`));
      expect(found?.cells.map(({ family, qualifier }) => `${family}:${qualifier}`)).toEqual(wanted);
    });

    test('an empty table has no rows', async () => {
      const table = await open();
      expect(await lines(table)).toEqual([]);
      expect(await lines(table, { start: 'a', end: 'b' })).toEqual([]);
      expect(await table.readRow('a')).toBeUndefined();
      expect(await table.sampleRowKeys()).toEqual([]);
    });

    test('samples are keys inside the table, ascending', async () => {
      const table = await open();
      await table.mutateRows(plainRows(numbered(5000)));
      const samples = [...(await table.sampleRowKeys())];
      expect(samples).toEqual([...new Set(samples)].sort(byBytes));
      for (const sample of samples) expect(byBytes(sample, '00000') >= 0 && byBytes(sample, '05000') < 0).toBe(true);
    });
  });
};
