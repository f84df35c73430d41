// Puts and tile reads of a traced caller are spans with their figures; without a trace there is none, and nothing is counted as lost.
import { expect, test } from 'vitest';
import { counted, recorder } from '../../../../test/support/recorder.js';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { onLmdb } from '../support/on-both-engines.js';
import { md5 } from './support/gold-model.js';

onLmdb('a Gold store', (engine) => {
  test('carries spans', async () => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    const { root, memory, collector } = recorder();
    const request = root('request');
    await request.run(async () => {
      const entries = [1, 2].map((i) => ({ params: { name: `test${i}` }, digest: md5(i) }));
      await store.put(3, entries, 1000);
      await store.getTile(2);
    });
    request.end();
    await collector.flush();
    const spans = new Map(memory.spans.map(({ name, properties }) => [name, properties]));
    expect(spans.get('gold.put')).toMatchObject({ commit: 3, entries: 2, rows: 2 });
    expect(spans.get('ops.update')).toMatchObject({ row: ':ts:o:2147483647:', attempts: 1, added: 2 });
    expect(spans.get('gold.digest-ids')).toMatchObject({ unknown: 2, fresh: 2 });
    expect(spans.get('gold.tile')).toMatchObject({ commits: 2, traces: 2, tiles: 1 });
  });

  test('costs nothing where nobody traces', async () => {
    const store = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    const changed = await counted(() => store.put(3, [{ params: { name: 'a' }, digest: md5(1) }], 1000));
    expect(changed).toEqual({});
  });
});
