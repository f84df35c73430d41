// A writer that dies between any two of its writes leaves a store that others can read and write; putting the same again completes
// what it began.
import { expect, test } from 'vitest';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onLmdb } from '../support/on-both-engines.js';
import { GoldModel, md5, plain } from './support/gold-model.js';

const WRITES = new Set<string | symbol>(['mutateRows', 'checkAndMutateRow', 'incrementCell']);

/** `table` until the writer has written `count` times. `isLate`: it dies after that write, not before it, and never learns of it. */
const dyingAfter = (table: WideColumnTable, count: number, isLate: boolean): WideColumnTable => {
  let written = 0;
  return new Proxy(table, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (!WRITES.has(name)) return value.bind(target);
      return async (...args: unknown[]) => {
        if (written >= count + (isLate ? 1 : 0)) throw new Error('died');
        const result = await value.apply(target, args);
        if (written++ >= count) throw new Error('died');
        return result;
      };
    },
  });
};

onLmdb('a Gold store', (engine) => {
  test.each([
    ['before', false],
    ['after', true],
  ])('survives a writer that dies %s any of its writes', async (_, isLate) => {
    const entries = (round: string) =>
      Array.from({ length: 6 }, (_, i) => ({
        params: { name: `test${i}`, [`by${round}`]: 'x' },
        options: { round },
        digest: md5(`${round} ${i % 3}`),
      }));
    for (let count = 0; ; count++) {
      const table = await engine.table(GOLD_SCHEMA);
      const model = new GoldModel(256);
      const survivor = await GoldStore.open(table, { idBatch: 2 });
      await survivor.put(0, entries('a'), 1);
      model.put(0, entries('a'), 1);
      const dying = await GoldStore.open(dyingAfter(table, count, isLate), { idBatch: 2 });
      const death = await dying.put(1, entries('b'), 1).then(
        () => 'none',
        (error: Error) => error.message,
      );
      // Half a put may be there or not, but what is there can be read.
      const tile = await (await GoldStore.open(table)).getTile(1, { last: 0 });
      expect(plain(tile).traces.map(({ digests }) => digests)).toEqual(entries('a').map(({ digest }) => digest));
      await (await GoldStore.open(table)).getTile(2);
      // The same digests by another writer, and the same put once more.
      await survivor.put(2, entries('b'), 1);
      model.put(2, entries('b'), 1);
      await (await GoldStore.open(table)).put(1, entries('b'), 1);
      model.put(1, entries('b'), 1);
      expect(plain(await (await GoldStore.open(table)).getTile(3))).toEqual(model.tile(3));
      expect(plain(await survivor.getTile(3))).toEqual(model.tile(3));
      if (death === 'none') {
        // Param set, two batches of ids, rows of ids, three digests, options, traces.
        expect(count).toBeGreaterThan(6);
        return;
      }
      expect(death).toBe('died');
    }
  });
});
