// A query that is stopped, in whatever way and wherever it is, leaves no read open and gives back its slots; queries that need many
// streams wait for each other and all come to their end.
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Plan } from '../../src/query/plan.js';
import { MAX_OPEN_LEAVES, type RunOptions, readSlotsOf, runPlan } from '../../src/query/run-query.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { TraceDbError } from '../../src/tracedb-error.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { SCHEMA, type Tile, writeTile } from './support/tile-of-traces.js';

const COUNT = 6000;
const TRACES = Array.from({ length: COUNT }, (_, i) => ({
  test: `t${i}`,
  slot: `s${i % MAX_OPEN_LEAVES}`,
  half: `h${i % 2}`,
  third: `i${i % 3}`,
}));

// A leaf, a union, an intersection, and one with a union of all slots below it, and a walk.
const QUERIES = ['half=h0', 'half=h0&half=h1', 'half=h0&third=*', 'slot=*', 'half=h1&test=*', ''];

onBothEngines('a running query', (engine) => {
  let table: WideColumnTable;
  let tile: Tile;
  beforeAll(async () => {
    table = await engine.table(SCHEMA);
    tile = await writeTile(table, TRACES);
  }, 120_000);

  const run = (plan: Plan, options: Omit<RunOptions, 'tile'> = {}) =>
    runPlan(table, plan, tile.layout, { ...options, tile: 0 });
  const planOf = (query: string): Promise<Plan> => tile.plan(query);
  const clean = (): void => {
    expect(table.stats().openReads).toBe(0);
    expect(readSlotsOf(table).stats()).toMatchObject({ open: 0, waiting: 0 });
  };
  const count = async (batches: AsyncIterable<readonly string[]>): Promise<number> => {
    let ids = 0;
    for await (const batch of batches) ids += batch.length;
    return ids;
  };

  test.each(QUERIES)('%j opens nothing before it is asked, and nothing stays open at its end', async (query) => {
    const plan = await planOf(query);
    const reads = table.stats().reads;
    const ids = run(plan);
    await ids.return(undefined);
    run(plan);
    expect(table.stats().reads).toBe(reads);
    expect(await count(run(plan))).toBeGreaterThan(1000);
    clean();
  });

  test.each(QUERIES)('%j that is left by a break or an error of the consumer', async (query) => {
    const plan = await planOf(query);
    for (const batches of [1, 3]) {
      let seen = 0;
      for await (const ids of run(plan)) {
        expect(ids.length).toBeGreaterThan(0);
        if (++seen === batches) break;
      }
      clean();
    }
    const failing = async (): Promise<void> => {
      for await (const _ of run(plan)) throw new Error('mine');
    };
    await expect(failing()).rejects.toThrow('mine');
    clean();
  });

  test.each(QUERIES)('%j that is aborted between and during batches', async (query) => {
    const plan = await planOf(query);
    for (const isPending of [false, true]) {
      const abort = new AbortController();
      const reason = new Error('enough');
      const ids = run(plan, { signal: abort.signal });
      await ids.next();
      const pending = isPending ? ids.next() : undefined;
      abort.abort(reason);
      const stopped = pending ?? ids.next();
      await expect(stopped).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED', cause: reason });
      expect(await ids.next()).toEqual({ done: true, value: undefined });
      clean();
    }
    const before = run(plan, { signal: AbortSignal.abort() });
    await expect(before.next()).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    clean();
  });

  test.each(QUERIES)('%j whose deadline passes', async (query) => {
    const plan = await planOf(query);
    const slow = async (): Promise<void> => {
      for await (const _ of run(plan, { deadlineMs: 30 })) await sleep(60);
    };
    await expect(slow()).rejects.toMatchObject({ code: 'ERR_SPANLINE_DEADLINE' });
    clean();
  });

  /** The table, but its third read of keys breaks after its first batch. */
  const breaking = (): WideColumnTable => {
    let reads = 0;
    const breakOff = async function* (read: AsyncIterableIterator<readonly string[]>) {
      const { value } = await read.next();
      await read.return?.();
      if (value !== undefined) yield value as readonly string[];
      throw new TraceDbError('ERR_SPANLINE_STORE_UNAVAILABLE', 'this read broke');
    };
    const readKeys: WideColumnTable['readKeys'] = (selection, options) => {
      const read = table.readKeys(selection, options);
      return ++reads === 3 ? breakOff(read) : read;
    };
    return new Proxy(table, {
      get: (target, name) => (name === 'readKeys' ? readKeys : Reflect.get(target, name, target)),
    });
  };

  test.each(['slot=*', 'third=*', ''])(
    '%j of which one read breaks rejects with that and ends the others',
    async (query) => {
      const broken = breaking();
      const ids = runPlan(broken, await planOf(query), tile.layout, { tile: 0 });
      await expect(count(ids)).rejects.toMatchObject({
        code: 'ERR_SPANLINE_STORE_UNAVAILABLE',
        message: 'this read broke',
      });
      clean();
      expect(readSlotsOf(broken).stats()).toMatchObject({ open: 0, waiting: 0 });
    },
  );

  test('two that need every slot, and small ones between them, all come to their end', async () => {
    const large = await planOf('slot=*');
    const small = await planOf('half=h0');
    const counts = await Promise.all([large, small, large, small, large].map((plan) => count(run(plan))));
    expect(counts).toEqual([COUNT, COUNT / 2, COUNT, COUNT / 2, COUNT]);
    expect(readSlotsOf(table).stats().waited).toBeGreaterThan(2);
    clean();
  });

  test('one that waits for its slots is stopped there', async () => {
    const large = await planOf('slot=*');
    const first = run(large);
    await first.next();
    const abort = new AbortController();
    const waiting = run(large, { signal: abort.signal }).next();
    const late = run(large, { deadlineMs: 20 }).next();
    const patient = count(run(large));
    await expect(late).rejects.toMatchObject({ code: 'ERR_SPANLINE_DEADLINE' });
    abort.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    await first.return(undefined);
    expect(await patient).toBe(COUNT);
    clean();
  });

  test('one that nobody asks on gives back its slots when it is stopped', async () => {
    const large = await planOf('slot=*');
    const abort = new AbortController();
    const abandoned = run(large, { signal: abort.signal });
    await abandoned.next();
    const waiting = count(run(large));
    await sleep(5);
    expect(readSlotsOf(table).stats()).toMatchObject({ open: MAX_OPEN_LEAVES, waiting: 1 });
    abort.abort();
    expect(await waiting).toBe(COUNT);
    await expect(abandoned.next()).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    clean();
  });
});
