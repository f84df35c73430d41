// What is read of a store is whole or an error: values and ids of queries, sources, params, tiles and counts; of a store or tile with
// nothing in it too, and while others write.
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Params } from '../../src/params/param-text.js';
import { PERF_SCHEMA, PerfStore } from '../../src/perf/perf-store.js';
import type { PerfTrace } from '../../src/perf/series-reader.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';

const collect = async <T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
};

/** Traces as short lines: `arch=x86 config=565: 3=1 4=2`. */
const lines = (traces: readonly PerfTrace[]): string[] =>
  traces
    .map(({ params, values }) => {
      const points = Array.from(values.entries()).filter(([, value]) => !Number.isNaN(value));
      const names = Object.entries(params).map(([key, value]) => `${key}=${value}`);
      return `${names.sort().join(' ')}: ${points.map(([offset, value]) => `${offset}=${value}`).join(' ')}`;
    })
    .sort();

const invalid = { code: 'ERR_SPANLINE_INVALID_INPUT' };

onBothEngines('a store with two tiles', (engine) => {
  let perf: PerfStore;
  beforeAll(async () => {
    perf = await PerfStore.open(await engine.table(PERF_SCHEMA), { tileSize: 50, shards: 3 });
    const x86 = { arch: 'x86', config: '565' };
    await perf.write([
      { commit: 3, source: 'a.json', timestampMs: 1, points: [{ params: x86, value: 1 }] },
      {
        commit: 4,
        source: 'b.json',
        timestampMs: 1,
        points: [
          { params: x86, value: 2 },
          { params: { arch: 'arm', config: '565' }, value: 3 },
          { params: { arch: 'arm' }, value: 4 },
        ],
      },
      { commit: 103, source: 'a.json', timestampMs: 1, points: [{ params: { os: 'mac', arch: 'arm' }, value: 5 }] },
    ]);
  });

  test.each([
    ['', ['arch=arm config=565: 4=3', 'arch=arm: 4=4', 'arch=x86 config=565: 3=1 4=2']],
    ['arch=arm', ['arch=arm config=565: 4=3', 'arch=arm: 4=4']],
    ['arch=arm&config=*', ['arch=arm config=565: 4=3']],
    ['arch=!arm', ['arch=x86 config=565: 3=1 4=2']],
    ['config=~^5.5$&arch=x86&arch=arm', ['arch=arm config=565: 4=3', 'arch=x86 config=565: 3=1 4=2']],
    ['arch=sparc', []],
    ['os=mac', []],
  ])('values and ids of %j', async (query, expected) => {
    const traces = await collect(perf.query(0, query));
    expect(lines(traces)).toEqual(expected);
    expect(await perf.count(0, query)).toBe(expected.length);
    if (query === '') return;
    const ids = await collect(perf.queryIds(0, query));
    expect(ids).toEqual(traces.map(({ id }) => id));
    expect(ids).toEqual([...ids].sort());
    const ops = await perf.orderedParamSet(0);
    expect(traces.map(({ params }) => ops.encode(params))).toEqual(ids);
  });

  test('the empty query has no ids', async () => {
    await expect(collect(perf.queryIds(0, ''))).rejects.toMatchObject(invalid);
    await expect(collect(perf.queryIds(0, { parts: [] }))).rejects.toMatchObject(invalid);
    expect(lines(await collect(perf.query(0, { parts: [] })))).toHaveLength(3);
    expect(await perf.count(2)).toBe(1);
  });

  test('traces by their params, in the order asked for', async () => {
    const wanted: Params[] = [{ arch: 'arm' }, { nosuch: 'x' }, { config: '565', arch: 'x86' }, { arch: 'x86' }];
    const found = await perf.readTraces(0, wanted);
    expect(found.map(({ params }) => params)).toEqual([{ arch: 'arm' }, { arch: 'x86', config: '565' }]);
    expect(await perf.readTraces(0, [])).toEqual([]);
    expect(await perf.readTraces(1, wanted)).toEqual([]);
  });

  test('tiles, the newest first, with the params of each', async () => {
    expect(await perf.tiles()).toEqual([2, 0]);
    expect(await perf.tiles({ limit: 1 })).toEqual([2]);
    expect(await perf.latestTile()).toBe(2);
    expect((await perf.paramSet(0)).toJSON()).toEqual({ arch: ['arm', 'x86'], config: ['565'] });
    expect((await perf.paramSet(2)).toJSON()).toEqual({ arch: ['arm'], os: ['mac'] });
    expect((await perf.paramSet(1)).size).toBe(0);
  });

  test('where a value came from', async () => {
    const x86 = { arch: 'x86', config: '565' };
    expect(await perf.source(3, x86)).toBe('a.json');
    expect(await perf.source(4, { config: '565', arch: 'x86' })).toBe('b.json');
    expect(await perf.source(5, x86)).toBeUndefined();
    expect(await perf.source(3, { arch: 'arm' })).toBeUndefined();
    expect(await perf.source(3, { nosuch: 'x' })).toBeUndefined();
    expect(await perf.source(999, x86)).toBeUndefined();
    // A source that is gone is not taken for none.
    const { table } = perf;
    await perf.writeTraces(60, [{ params: { only: 'here' }, value: 1 }], { source: 'lost.json', timestampMs: 1 });
    const keys = await collect(table.readRows({ prefix: '&' }));
    const lost = keys.find(({ cells }) => Buffer.from(cells[0]?.value ?? []).toString() === 'lost.json');
    await table.mutateRows([{ key: lost?.key as string, mutations: [{ type: 'delete-row' }] }]);
    await expect(perf.source(60, { only: 'here' })).rejects.toMatchObject({ code: 'ERR_SPANLINE_STORE_CORRUPT' });
    await table.mutateRows([{ key: '@2147483646', mutations: [{ type: 'delete-row' }] }]);
  });

  test('the index of a tile', async () => {
    expect(await perf.countIndices(0)).toBe(5);
    expect(await perf.countIndices(2)).toBe(2);
    expect(await perf.countIndices(7)).toBe(0);
    const indexed = await collect(perf.indexedTraces(0, 'arch', 'arm'));
    expect(indexed.map(({ params }) => params)).toEqual([{ arch: 'arm' }, { arch: 'arm', config: '565' }]);
    expect(await collect(perf.indexedTraces(0, 'arch', 'sparc'))).toEqual([]);
    expect(await collect(perf.indexedTraces(0, 'nosuch', 'arm'))).toEqual([]);
  });

  test('what a query would read', async () => {
    expect(await perf.planOf(0, 'arch=arm&config=*')).toMatchObject({
      kind: 'select',
      conditions: [{ key: 'arch' }, { key: 'config' }],
    });
    expect(await perf.planOf(0, '')).toEqual({ kind: 'all' });
    expect(await perf.planOf(0, 'os=mac')).toMatchObject({ kind: 'empty', reason: expect.stringContaining('"os"') });
  });

  test.each(['arch=', 'arch', '=x', 'arch=~(', 'a=*&a=x'])('%j is not a query, of any tile', async (query) => {
    for (const tile of [0, 99]) {
      await expect(collect(perf.query(tile, query))).rejects.toMatchObject(invalid);
      await expect(perf.count(tile, query)).rejects.toMatchObject(invalid);
    }
  });

  test('a tile that cannot be is an error, one that is not there is empty', async () => {
    for (const tile of [-1, 0.5, Number.NaN]) await expect(perf.count(tile)).rejects.toMatchObject(invalid);
    expect(await collect(perf.query(77, 'arch=arm'))).toEqual([]);
    expect(await perf.count(77)).toBe(0);
  });
});

onBothEngines('an empty store', (engine) => {
  test('answers everything with nothing', async () => {
    const perf = await PerfStore.open(await engine.table(PERF_SCHEMA));
    expect(await perf.latestTile()).toBeUndefined();
    expect(await perf.tiles()).toEqual([]);
    expect(await perf.count(0)).toBe(0);
    expect(await collect(perf.query(0, ''))).toEqual([]);
    expect(await collect(perf.queryIds(0, 'a=b'))).toEqual([]);
    expect(await perf.readTraces(0, [{ a: 'b' }])).toEqual([]);
    expect((await perf.paramSet(0)).size).toBe(0);
    expect(await perf.source(0, { a: 'b' })).toBeUndefined();
    expect([await perf.countIndices(0), await perf.writeIndices(0)]).toEqual([0, 0]);
    expect(await perf.commits.list()).toEqual([]);
  });
});

onLmdb('a query', (engine) => {
  const open = async (traces: number, wrap: (table: WideColumnTable) => WideColumnTable = (table) => table) => {
    const table = await engine.table(PERF_SCHEMA);
    const writer = await PerfStore.open(table);
    const points = Array.from({ length: traces }, (_, i) => ({ params: { test: `t${i}`, arch: 'x86' }, value: i }));
    await writer.writeTraces(0, points, { source: 's', timestampMs: 1 });
    return { writer, perf: await PerfStore.open(wrap(table)) };
  };

  test('reads traces that are written while it runs, with params that it did not know', async () => {
    const { writer, perf } = await open(3000);
    const seen: string[] = [];
    let isFirst = true;
    for await (const traces of perf.query(0, 'arch=x86')) {
      for (const { params, values } of traces) {
        seen.push(params.test as string);
        expect(values[0]).toBe(Number(params.test?.slice(1)));
      }
      if (!isFirst) continue;
      isFirst = false;
      // Beyond the ids read so far, so that the query comes to it.
      const points = [{ params: { arch: 'x86', test: 't9999', zebra: 'new' }, value: 9999 }];
      await writer.writeTraces(0, points, { source: 's', timestampMs: 1 });
    }
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen.length).toBeGreaterThanOrEqual(3000);
  });

  test('that finds an id newer than its param set reads the set anew', async () => {
    // The index row appears after the plan was made: exactly the moment between the two reads of a query.
    let writer: PerfStore | undefined;
    const { perf, writer: other } = await open(
      1,
      (table) =>
        new Proxy(table, {
          get(target, name) {
            const value: unknown = Reflect.get(target, name);
            if (typeof value !== 'function') return value;
            if (name !== 'readKeys') return value.bind(target) as unknown;
            return async function* (...args: Parameters<WideColumnTable['readKeys']>) {
              const points = [{ params: { arch: 'x86', added: 'later' }, value: 7 }];
              await writer?.writeTraces(0, points, { source: 's', timestampMs: 1 });
              yield* target.readKeys(...args);
            };
          },
        }),
    );
    writer = other;
    expect(lines(await collect(perf.query(0, 'arch=x86')))).toEqual([
      'added=later arch=x86: 0=7',
      'arch=x86 test=t0: 0=0',
    ]);
    const indexed = await collect((await PerfStore.open(perf.table)).indexedTraces(0, 'arch', 'x86'));
    expect(indexed).toHaveLength(2);
  });

  test('whose id no param set explains is an error, not an answer without it', async () => {
    const { perf } = await open(2);
    const mutations = [{ type: 'set', family: 'I', qualifier: 'E', value: new Uint8Array(), timestampMs: 1 }] as const;
    const value = Buffer.alloc(4);
    const trace = [{ type: 'set', family: 'V', qualifier: '0', value, timestampMs: 1 }] as const;
    await perf.table.mutateRows([{ key: 'j2147483647:0:0:,0=0,7=7,', mutations }]);
    // In the shard that its id has.
    const { traceKey } = await import('../../src/perf/keys.js');
    await perf.table.mutateRows([{ key: traceKey(0, ',0=0,7=7,', 8), mutations: trace }]);
    await expect(collect(perf.query(0, 'arch=x86'))).rejects.toMatchObject({ code: 'ERR_SPANLINE_STORE_CORRUPT' });
  });

  test('of a value that is not a float32, or of a column that is not in the tile, is an error', async () => {
    for (const [qualifier, value] of [
      ['0', Buffer.alloc(8)],
      ['256', Buffer.alloc(4)],
      ['x', Buffer.alloc(4)],
    ] as const) {
      const { perf } = await open(1);
      const [row] = await collect(perf.table.readKeys({ start: '0', end: '9' }));
      const mutations = [{ type: 'set', family: 'V', qualifier, value, timestampMs: 9 }] as const;
      await perf.table.mutateRows([{ key: row as string, mutations }]);
      await expect(collect(perf.query(0, ''))).rejects.toMatchObject({
        code: 'ERR_SPANLINE_STORE_CORRUPT',
        message: expect.stringContaining(row as string),
      });
    }
  });

  describe('that is stopped', () => {
    const aborted = { code: 'ERR_SPANLINE_ABORTED' };
    const READS: readonly (readonly [
      string,
      (perf: PerfStore, options: { signal: AbortSignal }) => Promise<unknown>,
    ])[] = [
      ['query', (perf, options) => collect(perf.query(0, 'arch=x86', options))],
      ['queryIds', (perf, options) => collect(perf.queryIds(0, 'arch=x86', options))],
      ['count', (perf, options) => perf.count(0, '', options)],
      ['readTraces', (perf, options) => perf.readTraces(0, [{ test: 't1', arch: 'x86' }], options)],
      ['tiles', (perf, options) => perf.tiles(options)],
      ['countIndices', (perf, options) => perf.countIndices(0, options)],
      ['indexedTraces', (perf, options) => collect(perf.indexedTraces(0, 'arch', 'x86', options))],
      ['writeIndices', (perf, options) => perf.writeIndices(0, options)],
      ['source', (perf, options) => perf.source(0, { test: 't1', arch: 'x86' }, options)],
      ['paramSet', (perf, options) => perf.paramSet(0, options)],
      ['commits.list', (perf, options) => perf.commits.list({}, options)],
      ['commits.add', (perf, options) => perf.commits.add([{ hash: 'x' }], options)],
      [
        'write',
        (perf, options) =>
          perf.write([{ commit: 1, source: 's', timestampMs: 1, points: [{ params: { a: 'b' }, value: 1 }] }], options),
      ],
    ];

    test.each(READS)('before it began: %s', async (_, read) => {
      const { perf } = await open(10);
      await expect(read(perf, { signal: AbortSignal.abort(new Error('enough')) })).rejects.toMatchObject(aborted);
      expect(perf.stats().table.openReads).toBe(0);
      expect(perf.stats().queries).toMatchObject({ open: 0, waiting: 0 });
    });

    test('after its first batch', async () => {
      const { perf } = await open(3000);
      for (const read of [perf.query.bind(perf), perf.queryIds.bind(perf)]) {
        const controller = new AbortController();
        let batches = 0;
        const run = async () => {
          for await (const _ of read(0, 'arch=x86', { signal: controller.signal })) {
            batches++;
            controller.abort();
          }
        };
        await expect(run()).rejects.toMatchObject(aborted);
        expect(batches).toBe(1);
        expect(perf.stats().table.openReads).toBe(0);
        expect(perf.stats().queries).toMatchObject({ open: 0, waiting: 0 });
      }
    });

    test('while nobody asks for more, and nobody will', async () => {
      const { perf } = await open(3000);
      for (const read of [perf.query.bind(perf), perf.queryIds.bind(perf)]) {
        const controller = new AbortController();
        await read(0, 'arch=x86', { signal: controller.signal }).next();
        controller.abort();
        await vi.waitFor(() => expect(perf.stats().table.openReads).toBe(0), 30_000);
        expect(perf.stats().queries).toMatchObject({ open: 0, waiting: 0 });
      }
    });

    test('by a break', async () => {
      const { perf } = await open(3000);
      for await (const traces of perf.query(0, 'arch=x86&test=*')) {
        expect(traces.length).toBeGreaterThan(0);
        break;
      }
      expect(perf.stats().table.openReads).toBe(0);
      expect(perf.stats().queries).toMatchObject({ open: 0, waiting: 0 });
    });

    test('by its deadline, however fast each of its calls is', async () => {
      // Every read of a trace takes a while; all of them together take too long.
      const { perf } = await open(
        3000,
        (table) =>
          new Proxy(table, {
            get(target, name) {
              const value: unknown = Reflect.get(target, name);
              if (typeof value !== 'function') return value;
              if (name !== 'readRows') return value.bind(target) as unknown;
              return async function* (...args: Parameters<WideColumnTable['readRows']>) {
                await new Promise((resolve) => setTimeout(resolve, 120));
                yield* target.readRows(...args);
              };
            },
          }),
      );
      const late = collect(perf.query(0, 'arch=x86', { deadlineMs: 250 }));
      await expect(late).rejects.toMatchObject({ code: 'ERR_SPANLINE_DEADLINE' });
      expect(perf.stats().table.openReads).toBe(0);
      expect(perf.stats().queries).toMatchObject({ open: 0, waiting: 0 });
      for (const deadlineMs of [0, -1, Number.NaN]) {
        await expect(perf.count(0, '', { deadlineMs })).rejects.toMatchObject(invalid);
      }
    });
  });
});
