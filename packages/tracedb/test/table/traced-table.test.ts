// A table in a trace answers as it does outside of one, and every call is a span with rows, bytes and waiting; however a call ends,
// its span ends too.
import { createHook } from 'node:async_hooks';
import { beforeAll, expect, test } from 'vitest';
import type { SpanRecord } from '../../../../src/record/record.js';
import { type Recorder, recorder } from '../../../../test/support/recorder.js';
import { TracedRead } from '../../src/table/read-span.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';

const FAMILIES = { families: ['V'] };
const set = (value: string, qualifier = 'q') =>
  ({ type: 'set', family: 'V', qualifier, value: Buffer.from(value), timestampMs: 1 }) as const;
const ROWS = Array.from({ length: 1000 }, (_, i) => ({
  key: `row${String(i).padStart(4, '0')}`,
  mutations: [set('12345')],
}));

const collect = async <T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const all: T[] = [];
  for await (const batch of batches) all.push(...batch);
  return all;
};

/** Run `work` in a trace; the trace is over then. */
const inTrace = async <T>(work: () => Promise<T>): Promise<Recorder & { readonly result: T }> => {
  const recording = recorder();
  const root = recording.root('root');
  const result = await root.run(work);
  root.end();
  await recording.collector.flush();
  return { ...recording, result };
};

const NAMES = { engine: expect.any(String), 'wait.ms': expect.any(Number), batches: expect.any(Number) };

onBothEngines('a table in a trace', (engine) => {
  let table: WideColumnTable;
  beforeAll(async () => {
    table = await engine.table(FAMILIES);
    await table.mutateRows(ROWS);
  });

  test('gives the rows it gives outside, counted', async () => {
    const outside = await collect(table.readRows({ prefix: 'row' }));
    const { result, memory, tree } = await inTrace(() => collect(table.readRows({ prefix: 'row' })));
    expect(result).toEqual(outside);
    expect(await tree()).toBe('root\n  table.read');
    const read = memory.find('table.read');
    // A key of 7 and a value of 5 bytes each.
    expect(read).toMatchObject({
      kind: 'client',
      properties: { ...NAMES, engine: table.engine, selection: 'prefix "row"', rows: 1000, bytes: 12_000 },
    });
    expect(read?.properties['wait.ms']).toBeLessThanOrEqual((read?.durationNs as number) / 1e6);
  });

  test.each([
    [
      'its keys',
      (one: WideColumnTable) => collect(one.readKeys({ start: 'row0990' })),
      10,
      70,
      'range "row0990" to ""',
    ],
    ['some rows', (one: WideColumnTable) => collect(one.readRows({ keys: ['row0001', 'x'] })), 1, 12, '2 keys'],
    ['none', (one: WideColumnTable) => collect(one.readRows({ prefix: 'x' })), 0, 0, 'prefix "x"'],
  ] as const)('counts %s', async (_, read, rows, bytes, selection) => {
    const { result, memory } = await inTrace<readonly unknown[]>(() => read(table));
    expect(result).toHaveLength(rows);
    const span = memory.spans.find(({ name }) => name.startsWith('table.read'));
    expect(span?.properties).toMatchObject({ rows, bytes, selection });
  });

  test('each kind of call is a span of its own', async () => {
    const { tree, memory, result } = await inTrace(async () => [
      await table.readRow('row0001'),
      await table.readRow('nosuch'),
      await table.mutateRows([
        { key: 'other', mutations: [set('abc'), { type: 'delete-cell', family: 'V', qualifier: 'zz' }] },
      ]),
      await table.checkAndMutateRow('other', { family: 'V', qualifier: 'q' }, { otherwise: [set('x')] }),
      await table.incrementCell('counter', 'V', 'n', 5),
      Array.isArray(await table.sampleRowKeys()),
    ]);
    expect(result.slice(1)).toEqual([undefined, undefined, true, expect.any(Number), true]);
    expect(await tree()).toBe(
      [
        'root',
        'table.read-row',
        'table.read-row',
        'table.write',
        'table.check-and-write',
        'table.increment',
        'table.sample',
      ].join('\n  '),
    );
    const spans = memory.spans.filter(({ name }) => name === 'table.read-row');
    expect(spans.map(({ properties }) => properties)).toEqual([
      { engine: table.engine, rows: 1, bytes: 12 },
      { engine: table.engine, rows: 0, bytes: 0 },
    ]);
    // Key, two qualifiers and one value.
    expect(memory.find('table.write')?.properties).toEqual({ engine: table.engine, rows: 1, bytes: 5 + 1 + 3 + 2 });
    expect(memory.find('table.check-and-write')?.properties).toMatchObject({ matched: true });
  });

  test('counts what the reader took, and no more, when it stops early', async () => {
    const { memory, tree } = await inTrace(async () => {
      for await (const batch of table.readRows({ prefix: 'row' })) {
        expect(batch.length).toBeGreaterThan(0);
        break;
      }
    });
    expect(await tree()).toBe('root\n  table.read');
    const { rows, batches } = (memory.find('table.read') as SpanRecord).properties;
    expect(batches).toBe(1);
    expect(rows).toBeLessThan(1000);
    expect(table.stats().openReads).toBe(0);
  });

  test('a read that nobody begins ends its span all the same', async () => {
    const { tree, memory } = await inTrace(async () => {
      await table.readRows({ prefix: 'row' }).return?.();
      await table.readKeys({ prefix: 'row' }).return?.();
    });
    expect(await tree()).toBe('root\n  table.read\n  table.read-keys');
    expect(memory.find('table.read')?.properties).toMatchObject({ rows: 0, bytes: 0, batches: 0 });
    expect(table.stats().openReads).toBe(0);
  });

  test('a read that is stopped in the middle has what came before on its span, and its error', async () => {
    const { memory, result } = await inTrace(async () => {
      const stop = new AbortController();
      const read = table.readRows({ prefix: 'row' }, { signal: stop.signal });
      const { value } = await read.next();
      stop.abort();
      await expect(read.next()).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
      await read.return?.();
      return value?.length;
    });
    const span = memory.find('table.read');
    expect(span).toMatchObject({ properties: { rows: result, batches: 1 }, status: { code: 'error' } });
    expect(span?.events).toHaveLength(1);
  });

  test('where nobody traces, a read is the one of the engine itself', async () => {
    for (const read of [table.readRows({ prefix: '' }), table.readKeys({ prefix: '' })]) {
      expect(read).not.toBeInstanceOf(TracedRead);
    }
    await inTrace(async () => {
      const read = table.readRows({ prefix: '' });
      expect(read).toBeInstanceOf(TracedRead);
      await read.return?.();
    });
  });

  test('a call that is refused or stopped has its error on its span', async () => {
    const signal = AbortSignal.abort(new Error('enough'));
    const { memory, tree } = await inTrace(async () => {
      await expect(collect(table.readRows({ prefix: '' }, { signal }))).rejects.toMatchObject({
        code: 'ERR_SPANLINE_ABORTED',
      });
      await expect(collect(table.readRows({ prefix: '' }, { deadlineMs: -1 }))).rejects.toThrow('deadlineMs');
      await expect(table.mutateRows([{ key: '', mutations: [set('x')] }])).rejects.toThrow('row key');
    });
    expect(await tree()).toBe('root\n  table.read\n  table.read\n  table.write');
    const children = memory.spans.filter(({ name }) => name !== 'root');
    for (const { status, events } of children) {
      expect(status.code).toBe('error');
      expect(events.map(({ name }) => name)).toEqual(['exception']);
    }
    expect(table.stats().openReads).toBe(0);
  });
});

onLmdb('a read of the engine itself', (engine) => {
  /** Promises that `work` takes from here to its end. */
  const promisesOfOne = async (work: () => Promise<unknown>): Promise<number> => {
    let count = 0;
    // Whoever has called takes some to wait for this.
    await undefined;
    const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && count++) }).enable();
    try {
      await work();
    } finally {
      hook.disable();
    }
    return count;
  };

  /** A read that was kept off the processor for longer than its turn takes another turn, which is a promise more: the fewest of ten. */
  const promisesOf = async (work: () => Promise<unknown>): Promise<number> => {
    let fewest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 10; i++) fewest = Math.min(fewest, await promisesOfOne(work));
    return fewest;
  };

  test('takes as many promises in a trace as outside', async () => {
    const table = await engine.table(FAMILIES);
    await table.mutateRows(ROWS);
    const reads: readonly (() => Promise<unknown>)[] = [
      () => collect(table.readRows({ prefix: 'row' })),
      () => collect(table.readKeys({ prefix: 'row' })),
      () => table.readRow('row0001'),
    ];
    for (const read of reads) {
      const outside = await promisesOf(read);
      expect(outside).toBeGreaterThan(0);
      const { result } = await inTrace(() => promisesOf(read));
      expect(result).toBe(outside);
    }
  });
});

onLmdb('two writes at once', (engine) => {
  test('have each its own bytes', async () => {
    const table = await engine.table(FAMILIES);
    const { memory } = await inTrace(() =>
      Promise.all([
        table.mutateRows([{ key: 'a', mutations: [set('x'.repeat(1000))] }]),
        table.mutateRows([{ key: 'b', mutations: [set('x')] }]),
      ]),
    );
    const bytes = memory.spans.filter(({ name }) => name === 'table.write').map(({ properties }) => properties.bytes);
    expect(bytes.sort()).toEqual([1002, 3]);
  });
});
