// The usual put and the usual tile read only what they lack: known traces and digests cost no read, an unknown digest costs the rows
// it is in, and the digest map is never read as a whole.
import { expect, test } from 'vitest';
import type { GoldEntry } from '../../src/gold/gold-entry.js';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { md5 } from './support/gold-model.js';

const entries = (count: number, from = 0): GoldEntry[] =>
  Array.from({ length: count }, (_, i) => ({ params: { name: `test${i}` }, digest: md5(from + i) }));

onBothEngines('a Gold store', (engine) => {
  test('writes known digests of known traces without a read', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table);
    await store.put(0, entries(50), 1000);
    const before = table.stats();
    await store.put(1, entries(50), 1000);
    const after = table.stats();
    expect(after.reads - before.reads).toBe(0);
    // One bulk write, of the traces.
    expect(after.writes - before.writes).toBe(1);
    expect(after.rowsWritten - before.rowsWritten).toBe(50);
    expect(store.stats().digests).toMatchObject({ hits: 50, misses: 50, assigned: 50, refused: 0, batches: 1 });
  });

  test('asks for the rows of an unknown digest only, also when the map is large', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const writer = await GoldStore.open(table);
    await writer.put(0, entries(3000), 1000);
    const other = await GoldStore.open(table);
    await other.put(1, entries(1, 5000), 1000);
    expect(other.stats().digests).toMatchObject({ misses: 1, reads: 1, assigned: 1 });
    await other.put(2, entries(7, 100), 1000);
    // 7 known by the table, unknown here: one read, at most their 7 rows, no new id.
    const { reads, rowsRead, assigned, batches } = other.stats().digests;
    expect({ reads, assigned, batches }).toEqual({ reads: 2, assigned: 1, batches: 1 });
    expect(rowsRead).toBeGreaterThan(0);
    expect(rowsRead).toBeLessThanOrEqual(8);
  });

  test('resolves the ids of a tile with few reads, and those it knows with none', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const writer = await GoldStore.open(table);
    await writer.put(0, entries(2000), 1000);
    const reader = await GoldStore.open(table);
    await reader.getTile(1);
    const first = reader.stats().digests;
    // 256 ids share a row; batches of several shards may ask for one row before another has brought it.
    expect(first.rowsRead).toBeLessThanOrEqual(Math.ceil(2000 / 256) + 1);
    await reader.getTile(1);
    expect(reader.stats().digests.reads).toBe(first.reads);
  });

  test('keeps the ids left of a batch for later digests', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table, { idBatch: 10 });
    await store.put(0, entries(4), 1000);
    expect(store.stats().digests).toMatchObject({ batches: 1, idsLeft: 6 });
    await store.put(0, entries(6, 4), 1001);
    expect(store.stats().digests).toMatchObject({ batches: 1, idsLeft: 0 });
    await store.put(0, entries(21, 10), 1002);
    expect(store.stats().digests).toMatchObject({ batches: 2, idsLeft: 9, assigned: 31 });
  });

  test('a tile of few commits asks for their columns only', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table);
    for (let commit = 0; commit < 40; commit++) await store.put(commit, entries(5), 1000);
    const bytesOf = async (read: () => Promise<unknown>): Promise<number> => {
      const before = table.stats().bytesRead;
      await read();
      return table.stats().bytesRead - before;
    };
    const all = await bytesOf(() => store.getTile(40, { last: 39 }));
    const few = await bytesOf(() => store.getTile(2, { last: 39 }));
    expect(few).toBeLessThan(all / 2);
  });

  test('reads stop when the reader stops, and when its signal fires', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const store = await GoldStore.open(table);
    await store.put(0, entries(3000), 1000);
    for await (const batch of store.traces(0)) {
      expect(batch.length).toBeGreaterThan(0);
      break;
    }
    expect(table.stats().openReads).toBe(0);
    const abort = new AbortController();
    const read = (async () => {
      for await (const _ of store.traces(0, { signal: abort.signal })) abort.abort();
    })();
    await expect(read).rejects.toMatchObject({ code: 'ERR_SPANLINE_ABORTED' });
    expect(table.stats().openReads).toBe(0);
    await expect(store.getTile(1, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_ABORTED',
    });
    await expect(store.put(1, entries(1), 1, { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_ABORTED',
    });
  });
});
