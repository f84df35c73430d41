// A reader that meets what a writer puts while it reads sees the new traces whole or not at all; it never fails and never shows a trace
// under a wrong name.
import { expect, test } from 'vitest';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';
import { onBothEngines } from '../support/on-both-engines.js';
import { md5 } from './support/gold-model.js';

/** `table`, with `between` run before each of its streaming reads begins. */
const interrupted = (table: WideColumnTable, between: () => Promise<void>): WideColumnTable =>
  new Proxy(table, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (name !== 'readRows') return value.bind(target);
      return async function* (...args: Parameters<WideColumnTable['readRows']>) {
        await between();
        yield* target.readRows(...args);
      };
    },
  });

onBothEngines('a Gold reader', (engine) => {
  test('reads what is put while it reads', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const writer = await GoldStore.open(table);
    const put = (i: number) =>
      writer.put(0, [{ params: { name: `test${i}`, [`key${i}`]: 'x' }, options: { i: `${i}` }, digest: md5(i) }], 1);
    await put(0);
    let puts = 1;
    const reader = await GoldStore.open(
      interrupted(table, () => put(puts++)),
      { shardReads: 4 },
    );
    const { traces } = await reader.getTile(1);
    // Some came too late for their shard; of the others everything is known.
    expect(traces.length).toBeGreaterThan(1);
    for (const { params, options, digests } of traces) {
      const i = params.name.slice('test'.length);
      expect(params).toEqual({ name: `test${i}`, [`key${i}`]: 'x' });
      expect(options).toEqual({ i });
      expect(digests).toEqual([md5(i)]);
    }
    expect((await (await GoldStore.open(table)).getTile(1)).traces).toHaveLength(puts);
  });
});
