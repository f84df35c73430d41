// What was said of a digest last is what counts, with who and when; every change is in its history, also when two people triage at
// once or their clocks differ.
import { expect, test } from 'vitest';
import { Expectations, type Triage } from '../../src/gold/expectations.js';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { onBothEngines, onLmdb } from '../support/on-both-engines.js';
import { md5 } from './support/gold-model.js';

const A = md5('a');
const B = md5('b');

onBothEngines('expectations', (engine) => {
  const open = async () => (await GoldStore.open(await engine.table(GOLD_SCHEMA))).expectations;

  test('start untriaged, and keep who, when, why and what was before', async () => {
    const expectations = await open();
    expect(await expectations.get('circle', A)).toEqual({ status: 'untriaged' });
    expect(await expectations.history('circle', A)).toEqual([]);
    const positive: Triage = { test: 'circle', digest: A, status: 'positive' };
    expect(await expectations.triage([positive], { by: 'ada', time: new Date(1000), note: 'looks right' })).toBe(1);
    // The later word counts, though it names an earlier time.
    expect(await expectations.triage([{ ...positive, status: 'negative' }], { by: 'bob', time: 500 })).toBe(1);
    expect(await expectations.get('circle', A)).toEqual({ status: 'negative', by: 'bob', atMs: 500 });
    expect(await expectations.history('circle', A)).toEqual([
      { from: 'positive', to: 'negative', by: 'bob', atMs: 500 },
      { from: 'untriaged', to: 'positive', by: 'ada', atMs: 1000, note: 'looks right' },
    ]);
    // The digest of another test is another digest.
    expect((await expectations.get('square', A)).status).toBe('untriaged');
  });

  test('a status that is set already stays with who set it', async () => {
    const expectations = await open();
    const positive: Triage = { test: 'circle', digest: A, status: 'positive' };
    await expectations.triage([positive], { by: 'ada', time: 1 });
    expect(await expectations.triage([positive], { by: 'bob', time: 2 })).toBe(0);
    expect(await expectations.triage([{ ...positive, digest: B, status: 'untriaged' }], { by: 'bob' })).toBe(0);
    expect(await expectations.get('circle', A)).toEqual({ status: 'positive', by: 'ada', atMs: 1 });
    expect(await expectations.history('circle', A)).toHaveLength(1);
  });

  test('of two in one call for one digest the last counts', async () => {
    const expectations = await open();
    const both: Triage[] = [
      { test: 'circle', digest: A, status: 'positive' },
      { test: 'circle', digest: A, status: 'negative' },
    ];
    expect(await expectations.triage(both, { by: 'ada' })).toBe(1);
    expect((await expectations.get('circle', A)).status).toBe('negative');
  });

  test('many people at once: the history has every change, each from where the one before ended', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const stores = await Promise.all(Array.from({ length: 6 }, () => GoldStore.open(table)));
    let changed = 0;
    await Promise.all(
      stores.map(async ({ expectations }, i) => {
        for (let round = 0; round < 5; round++) {
          const status = (['positive', 'negative', 'untriaged'] as const)[(i + round) % 3];
          const one: Triage = { test: 'circle', digest: A, status };
          const count = await expectations.triage([one], { by: `p${i}`, time: round });
          changed += count;
        }
      }),
    );
    const history = [...(await stores[0].expectations.history('circle', A))].reverse();
    expect(history).toHaveLength(changed);
    expect(changed).toBeGreaterThan(5);
    let status = 'untriaged';
    for (const change of history) {
      expect(change.from).toBe(status);
      status = change.to;
    }
    expect((await stores[0].expectations.get('circle', A)).status).toBe(status);
  });

  test('the last word counts, though the clock of who said it is behind', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const ahead = new Expectations(table, 32, () => Date.now() + 3_600_000);
    const behind = new Expectations(table, 32, () => 0);
    await ahead.triage([{ test: 'circle', digest: A, status: 'positive' }], { by: 'ada' });
    await behind.triage([{ test: 'circle', digest: A, status: 'negative' }], { by: 'bob' });
    expect((await ahead.get('circle', A)).status).toBe('negative');
    expect(await ahead.history('circle', A)).toHaveLength(2);
  });

  test('the statuses of tests, and all there are', async () => {
    const expectations = await open();
    const changes = Array.from({ length: 300 }, (_, i): Triage => {
      return { test: `test:${i % 150} ü`, digest: md5(i), status: i % 3 === 0 ? 'negative' : 'positive' };
    });
    expect(await expectations.triage(changes, { by: 'ada', time: 7 })).toBe(300);
    const statusOf = await expectations.statuses([...changes.map(({ test }) => test), 'unknown']);
    for (const { test, digest, status } of changes) expect(statusOf(test, digest)).toBe(status);
    expect(statusOf('unknown', A)).toBe('untriaged');
    expect(statusOf(changes[0].test, A)).toBe('untriaged');
    const all: string[] = [];
    for await (const batch of expectations.all()) {
      for (const { test, digest, status, by, atMs } of batch) all.push([test, digest, status, by, atMs].join());
    }
    expect(all.sort()).toEqual(changes.map(({ test, digest, status }) => `${test},${digest},${status},ada,7`).sort());
  });
});

onLmdb('expectations', (engine) => {
  test('the history has a bound: the last hundred changes', async () => {
    const { expectations } = await GoldStore.open(await engine.table(GOLD_SCHEMA));
    for (let i = 0; i < 105; i++) {
      const status = i % 2 === 0 ? 'positive' : 'negative';
      await expectations.triage([{ test: 'circle', digest: A, status }], { by: 'ada', time: i });
    }
    const history = await expectations.history('circle', A);
    expect(history.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 100 }, (_, i) => 104 - i));
  });

  test('wrong input is refused before anything is written', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const { expectations } = await GoldStore.open(table);
    const good: Triage = { test: 'circle', digest: A, status: 'positive' };
    const before = table.stats().rowsWritten;
    for (const [change, options] of [
      [{ ...good, status: 'great' }, { by: 'ada' }],
      [{ ...good, digest: A.toUpperCase() }, { by: 'ada' }],
      [{ ...good, digest: '' }, { by: 'ada' }],
      [{ ...good, test: '' }, { by: 'ada' }],
      [{ ...good, test: 'a\0b' }, { by: 'ada' }],
      [{ ...good, test: 'x'.repeat(1025) }, { by: 'ada' }],
      [good, { by: '' }],
      [good, { by: 'ada', note: 'x'.repeat(1001) }],
      [good, { by: 'ada', time: -1 }],
      [good, {}],
    ] as unknown as [Triage, { by: string }][]) {
      await expect(expectations.triage([good, change], options)).rejects.toMatchObject({
        code: 'ERR_SPANLINE_INVALID_INPUT',
      });
    }
    expect(table.stats().rowsWritten).toBe(before);
  });
});
