// When the connection to the store breaks or stalls in the middle of a query, the query gives its whole answer or an error, never a
// part that looks whole; and it leaves no read open, neither the one that broke nor its siblings.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { describeBigtable } from '../../../../test/support/bigtable-emulator.js';
import { sampleOf } from '../../../../test/support/samples.js';
import type { Plan } from '../../src/query/plan.js';
import { readSlotsOf, runPlan } from '../../src/query/run-query.js';
import { openTable } from '../../src/table/open-table.js';
import type { CallOptions, WideColumnTable } from '../../src/table/wide-column-table.js';
import { TraceDbError } from '../../src/tracedb-error.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { SCHEMA, type Tile, writeTile } from './support/tile-of-traces.js';

const COUNT = 4200;
const TRACES = Array.from({ length: COUNT }, (_, i) => ({
  test: `t${i}`,
  half: `h${i % 2}`,
  third: `i${i % 3}`,
  slot: `s${i % 20}`,
}));

const QUERIES: readonly [name: string, query: string, ids: number][] = [
  ['one leaf', 'half=h0', COUNT / 2],
  ['a union', 'slot=*', COUNT],
  ['an intersection', 'half=h0&third=i1', COUNT / 6],
  ['a walk', '', COUNT],
];

/**
 * One read, and several of which each waits for the others: what meets a connection that does not come back, for which gRPC waits a second and more
 * each time. At night all.
 */
const OF_EACH_KIND = sampleOf(QUERIES, 2, 2);

describeBigtable('a query over a connection that fails', (emulator) => {
  let proxy: CuttingProxy;
  let table: WideColumnTable;
  let tile: Tile;
  beforeAll(async () => {
    proxy = await CuttingProxy.before(emulator.host);
    const direct = process.env.BIGTABLE_EMULATOR_HOST;
    process.env.BIGTABLE_EMULATOR_HOST = proxy.host;
    table = await openTable(emulator.location(), SCHEMA);
    process.env.BIGTABLE_EMULATOR_HOST = direct;
    tile = await writeTile(table, TRACES);
  }, 120_000);
  afterAll(async () => {
    await table?.close();
    await proxy?.close();
  });

  const idsOf = async (plan: Plan, options: CallOptions = {}): Promise<string[]> => {
    const ids: string[] = [];
    for await (const batch of runPlan(table, plan, tile.layout, { ...options, tile: 0 })) ids.push(...batch);
    return ids;
  };
  /** The ids, or the error, which must be one of ours. */
  const outcome = (ids: Promise<string[]>): Promise<string[] | TraceDbError> =>
    ids.catch((error: unknown) => {
      if (error instanceof TraceDbError) return error;
      throw error;
    });
  const clean = (): void => {
    expect(table.stats().openReads).toBe(0);
    expect(readSlotsOf(table).stats()).toMatchObject({ open: 0, waiting: 0 });
  };
  /** How many bytes of answers the query takes, and its ids. */
  const measure = async (plan: Plan): Promise<{ readonly ids: string[]; readonly bytes: number }> => {
    // The test before may have left a connection that gRPC waits to make again.
    await vi.waitFor(() => idsOf(plan), { timeout: 20_000, interval: 200 });
    const before = proxy.bytes;
    const ids = await idsOf(plan);
    return { ids, bytes: proxy.bytes - before };
  };

  test.each(QUERIES)('%s that is cut once goes on and is whole', async (_name, query, count) => {
    const plan = await tile.plan(query);
    const { ids, bytes } = await measure(plan);
    expect(ids.length).toBe(count);
    for (const share of [0, 0.01, 0.3, 0.6, 0.9]) {
      const faults = proxy.faults;
      proxy.expect({ afterBytes: Math.floor(bytes * share), kind: 'cut', afterwards: 'pass' });
      expect(await idsOf(plan)).toEqual(ids);
      expect(proxy.faults).toBe(faults + 1);
      clean();
    }
    proxy.heal();
  });

  test.each(OF_EACH_KIND)('%s that is cut for good is an error', async (_name, query) => {
    const plan = await tile.plan(query);
    const { bytes } = await measure(plan);
    for (const share of query === '' ? [0, 0.8] : [0.5]) {
      proxy.expect({ afterBytes: Math.floor(bytes * share), kind: 'cut', afterwards: 'refuse' });
      await expect(idsOf(plan)).rejects.toMatchObject({
        name: 'TraceDbError',
        code: 'ERR_SPANLINE_STORE_UNAVAILABLE',
        message: expect.stringContaining(table.location),
      });
      clean();
      proxy.heal();
    }
  });

  test.each(OF_EACH_KIND)('%s that is cut again and again is whole or an error', async (_name, query) => {
    const plan = await tile.plan(query);
    const { ids, bytes } = await measure(plan);
    let whole = 0;
    for (const parts of [3, 20]) {
      proxy.expect({ afterBytes: Math.ceil(bytes / parts), kind: 'cut', afterwards: 'again' });
      const result = await outcome(idsOf(plan));
      proxy.heal();
      if (result instanceof TraceDbError) expect(result.code).toBe('ERR_SPANLINE_STORE_UNAVAILABLE');
      else expect(result).toEqual(ids);
      if (!(result instanceof TraceDbError)) whole++;
      clean();
    }
    expect(whole).toBeGreaterThan(0);
  });

  test.each(QUERIES)('%s that stalls ends at its deadline or by its signal', async (_name, query) => {
    const plan = await tile.plan(query);
    const { ids, bytes } = await measure(plan);
    for (const share of [0, 0.5]) {
      const stall = { afterBytes: Math.floor(bytes * share), kind: 'stall', afterwards: 'pass' } as const;
      proxy.expect(stall);
      await expect(idsOf(plan, { deadlineMs: 200 })).rejects.toMatchObject({ code: 'ERR_SPANLINE_DEADLINE' });
      clean();
      proxy.heal();
      proxy.expect(stall);
      const abort = new AbortController();
      const aborted = idsOf(plan, { signal: abort.signal });
      await proxy.fault();
      abort.abort();
      await expect(aborted).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
      clean();
      proxy.heal();
    }
    // And the table is as good as before.
    expect(await idsOf(plan)).toEqual(ids);
    clean();
  });

  test('a stalled query that is left while its next batch is awaited ends at once', async () => {
    const plan = await tile.plan('half=h0');
    const { bytes } = await measure(plan);
    proxy.expect({ afterBytes: Math.floor(bytes * 0.6), kind: 'stall', afterwards: 'pass' });
    const batches = runPlan(table, plan, tile.layout, { tile: 0 });
    let pending = batches.next();
    for (let isStalled = false; !isStalled; ) {
      const next = await Promise.race([pending, proxy.fault().then(() => 'stalled' as const)]);
      isStalled = next === 'stalled';
      if (!isStalled) pending = batches.next();
    }
    // Batches that came before the stall may still be on their way; then comes the end, not an error.
    await batches.return(undefined);
    await pending;
    expect(await batches.next()).toEqual({ done: true, value: undefined });
    clean();
    proxy.heal();
  });
});
