// What is wrong as written is refused with an error that says which entry and why, before anything is written; and a table that holds
// something else is an error, never a tile with holes.
import { expect, test } from 'vitest';
import type { GoldEntry } from '../../src/gold/gold-entry.js';
import { GOLD_SCHEMA, traceRowKey } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { cleaningRule } from '../../src/params/param-text.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';
import { md5, plain } from './support/gold-model.js';

const GOOD: GoldEntry = { params: { name: 'circle' }, digest: md5(1) };

const BAD: readonly (readonly [what: string, entry: unknown, message: RegExp])[] = [
  ['no entry', null, /entry 1: params must be an object/],
  ['no params', { digest: md5(1) }, /entry 1: params must be an object/],
  ['empty params', { params: {}, digest: md5(1) }, /entry 1: .*at least one param/],
  ['a list as params', { params: ['a'], digest: md5(1) }, /entry 1: params must be an object/],
  ['a number as value', { params: { a: 1 }, digest: md5(1) }, /entry 1: params must be/],
  ['a separator in a value', { params: { a: 'x,b=y' }, digest: md5(1) }, /entry 1: .*character ","/],
  ['an empty value', { params: { a: '' }, digest: md5(1) }, /entry 1: .*empty/],
  ['no digest', { params: { a: 'b' } }, /entry 1: the digest undefined .* 32 lower-case hex digits/],
  ['a short digest', { params: { a: 'b' }, digest: 'abc' }, /entry 1: the digest "abc"/],
  ['an upper-case digest', { params: { a: 'b' }, digest: md5(1).toUpperCase() }, /lower-case/],
  ['a digest with a letter beyond f', { params: { a: 'b' }, digest: `g${md5(1).slice(1)}` }, /hex/],
  ['a digest with a line end', { params: { a: 'b' }, digest: `${md5(1).slice(1)}\n` }, /hex/],
  ['options that are a list', { params: { a: 'b' }, digest: md5(1), options: [] }, /options must be an object/],
  ['options with a number', { params: { a: 'b' }, digest: md5(1), options: { n: 1 } }, /options must be an object/],
  ['options without UTF-8 form', { params: { a: 'b' }, digest: md5(1), options: { n: '\ud800' } }, /lone surrogate/],
  ['a text that is none', { params: { a: 'b' }, digest: md5(1), text: 7 }, /entry 1: text must be a string/],
  ['a text too long', { params: { a: 'b' }, digest: md5(1), text: 'x'.repeat(65_537) }, /entry 1: text .* 65536/],
  [
    'options too long',
    {
      params: { a: 'b' },
      digest: md5(1),
      options: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${i}`, 'x'.repeat(1000)])),
    },
    /the limit is 65536/,
  ],
];

const rowsOf = async (table: WideColumnTable): Promise<number> => {
  let rows = 0;
  for await (const keys of table.readKeys({ prefix: '' })) rows += keys.length;
  return rows;
};

onLmdb('hostile puts', (engine) => {
  test.each(BAD)('%s', async (_, entry, message) => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table);
    const before = await rowsOf(table);
    const put = store.put(0, [GOOD, entry as GoldEntry], 1);
    await expect(put).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
      message: expect.stringMatching(message),
    });
    expect(await rowsOf(table)).toBe(before);
  });

  test.each([-1, 1.5, Number.NaN, 2 ** 31, '1' as unknown as number])('commit %s', async (commit) => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    await expect(store.put(commit, [GOOD], 1)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    await expect(store.getTile(1, { last: commit })).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
  });

  test.each([-1, Number.NaN, 1e15, new Date('x'), '2020' as unknown as number])('time %s', async (time) => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    await expect(store.put(1, [GOOD], time)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
  });

  test.each([0, -1, 1.5, 100_001, Number.POSITIVE_INFINITY])('a tile of %s commits', async (n) => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    await expect(store.getTile(n)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    await expect(store.getDenseTile(n)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
  });

  test('options of the store that make no sense', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    for (const options of [
      { tileSize: 0 },
      { tileSize: 8193 },
      { digestDigits: 4 },
      { idBatch: 0 },
      { cachedDigests: 1 },
      { shardReads: 33 },
    ]) {
      await expect(GoldStore.open(table, options)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    }
  });

  test('more params than a key of a row has room for are refused before a trace is written', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table);
    const params = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, 'x']));
    const put = store.put(0, [GOOD, { params, digest: md5(1) }], 1);
    await expect(put).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
      message: expect.stringContaining('1000 params'),
    });
    expect((await store.getTile(1)).traces).toEqual([]);
  });

  test('names of Object.prototype are params like any other', async () => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    const params = JSON.parse('{"__proto__":"a","constructor":"b","toString":"c"}');
    const options = JSON.parse('{"__proto__":"d","valueOf":"e"}');
    await store.put(0, [{ params, options, digest: md5(1) }], 1);
    const [trace] = (await store.getTile(1)).traces;
    expect(JSON.stringify(trace.params)).toBe('{"__proto__":"a","constructor":"b","toString":"c"}');
    expect(JSON.stringify(trace.options)).toBe('{"__proto__":"d","valueOf":"e"}');
  });
});

onBothEngines('a Gold table', (engine) => {
  test('says what it was made with, and refuses to be taken for another', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    await GoldStore.open(table, { tileSize: 64, digestDigits: 40 });
    const again = await GoldStore.open(table);
    expect(again.settings).toEqual({ tileSize: 64, digestDigits: 40 });
    await again.put(70, [{ params: { a: 'b' }, digest: 'f'.repeat(40) }], 1);
    await expect(again.put(70, [GOOD], 1)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    await expect(GoldStore.open(table, { tileSize: 128 })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
      message: expect.stringContaining('was made with tileSize 64'),
    });
  });

  test('is made once when eight open it at once', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const opened = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => GoldStore.open(table, { tileSize: 50 + (i % 2) })),
    );
    const sizes = opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value.settings.tileSize] : []));
    expect(sizes).toHaveLength(4);
    expect(new Set(sizes).size).toBe(1);
  });

  test('an older time never replaces a newer one, an equal one does, and missing takes back', async () => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    const put = (digest: string, time: number, size: string): Promise<void> =>
      store.put(3, [{ params: { name: 'a' }, digest, options: { size } }], time);
    const now = async (): Promise<unknown> => {
      const tile = await store.getTile(1, { last: 3 });
      return tile.traces.map(({ digests, options }) => [digests[0], options.size]);
    };
    await put(md5('new'), 2000, 'new');
    await put(md5('old'), 1000, 'old');
    expect(await now()).toEqual([[md5('new'), 'new']]);
    await put(md5('equal'), 2000, 'equal');
    expect(await now()).toEqual([[md5('equal'), 'equal']]);
    await store.put(3, [{ params: { name: 'a' }, digest: '' }], 3000);
    expect(await now()).toEqual([]);
    await put(md5('late'), 2500, 'late');
    expect(await now()).toEqual([]);
    await store.put(3, [{ params: { name: 'a' }, digest: md5('back') }], new Date(4000));
    expect(await now()).toEqual([[md5('back'), 'late']]);
  });

  test('options count by their own time when one is given', async () => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    const entry = (size: string): GoldEntry[] => [{ params: { name: 'a' }, digest: md5(size), options: { size } }];
    // The newer commit first, the older one is put later.
    await store.put(9, entry('of commit 9'), 1000, { optionsTime: 900 });
    await store.put(8, entry('of commit 8'), 2000, { optionsTime: 800 });
    expect((await store.getTile(2)).traces[0].options).toEqual({ size: 'of commit 9' });
  });

  test('characters are those of the rule', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const params = { name: 'a b/ü:c' };
    const strict = await GoldStore.open(table);
    await expect(strict.put(0, [{ params, digest: md5(1) }], 1)).rejects.toMatchObject({
      code: 'ERR_SPANLINE_INVALID_INPUT',
    });
    const free = await GoldStore.open(table, { rule: cleaningRule('A-Za-z0-9._ /:ü-') });
    await free.put(0, [{ params, digest: md5(1) }], 1);
    expect(plain(await strict.getTile(1)).traces[0].id).toBe(',name=a b/ü:c,');
  });

  test('foreign rows are an error with their key', async () => {
    const damage = async (qualifier: string, value: Uint8Array, encoded = ',0=0,'): Promise<unknown> => {
      const table = await engine.table(GOLD_SCHEMA);
      await (await GoldStore.open(table)).put(0, [GOOD], 1);
      const mutations = [{ type: 'set' as const, family: 'T', qualifier, value, timestampMs: 2 }];
      await table.mutateRows([{ key: traceRowKey(0, encoded), mutations }]);
      return (await GoldStore.open(table)).getTile(1).catch((error) => error.code);
    };
    const corrupt = 'ERR_SPANLINE_STORE_CORRUPT';
    expect(await damage('000', Uint8Array.of())).toBe(corrupt);
    expect(await damage('000', Uint8Array.of(0x80))).toBe(corrupt);
    expect(await damage('000', Uint8Array.of(0x81, 0x00))).toBe(corrupt);
    expect(await damage('000', Uint8Array.of(0x7f))).toBe(corrupt);
    expect(await damage('256', Uint8Array.of(1))).toBe(corrupt);
    expect(await damage('x', Uint8Array.of(1))).toBe(corrupt);
    expect(await damage('000', Uint8Array.of(1), ',0=7,')).toBe(corrupt);
    expect(await damage('000', Uint8Array.of(1), 'x')).toBe(corrupt);
  });
});
