// An ignore rule applies to the traces of its query until it expires, is changed or deleted; none matches everything.
import { expect, test } from 'vitest';
import { GOLD_SCHEMA } from '../../src/gold/gold-keys.js';
import { GoldStore } from '../../src/gold/gold-store.js';
import { IgnoreRules } from '../../src/gold/ignore-rules.js';
import { onBothEngines } from '../support/on-both-engines.js';

const HOUR = 3_600_000;

onBothEngines('ignore rules', (engine) => {
  const open = async () => (await GoldStore.open(await engine.table(GOLD_SCHEMA))).ignores;

  test('apply until they expire', async () => {
    const ignores = await open();
    const now = 10 * HOUR;
    const soon = await ignores.create({ query: 'gpu=~^mali', expires: now + 1, by: 'ada', note: 'driver' });
    const later = await ignores.create({ query: 'os=win&config=!8888', expires: new Date(now + HOUR), by: 'bob' });
    const at = async (ms: number, params: Record<string, string>) => (await ignores.matcher(ms))(params)?.id;
    expect(await at(now, { gpu: 'mali-g72' })).toBe(soon.id);
    expect(await at(now, { gpu: 'adreno' })).toBeUndefined();
    expect(await at(now, { os: 'win', config: '565' })).toBe(later.id);
    expect(await at(now, { os: 'win', config: '8888' })).toBeUndefined();
    expect(await at(now + 1, { gpu: 'mali-g72' })).toBeUndefined();
    expect(await at(now + HOUR, { os: 'win', config: '565' })).toBeUndefined();
    // Expired ones are still there to be seen.
    expect((await ignores.list()).map(({ id }) => id).sort()).toEqual([soon.id, later.id].sort());
    expect(soon).toMatchObject({ query: 'gpu=~^mali', expiresMs: now + 1, by: 'ada', note: 'driver' });
  });

  test('can be changed and deleted, by one of several at once', async () => {
    const ignores = await open();
    const { id, createdMs } = await ignores.create({ query: 'a=b', expires: HOUR, by: 'ada' });
    await Promise.all(
      Array.from({ length: 5 }, (_, i) => ignores.update(id, { query: `a=${i}`, expires: HOUR + i, by: `p${i}` })),
    );
    const [rule] = await ignores.list();
    expect(rule.query).toBe(`a=${rule.by.slice(1)}`);
    expect(rule.createdMs).toBe(createdMs);
    expect(await Promise.all([ignores.delete(id), ignores.delete(id)])).toContain(true);
    expect(await ignores.delete(id)).toBe(false);
    expect(await ignores.list()).toEqual([]);
    await expect(ignores.update(id, { query: 'a=b', expires: 1, by: 'ada' })).rejects.toMatchObject({
      code: 'ERR_SPANLINE_NOT_FOUND',
    });
    expect(await ignores.list()).toEqual([]);
  });

  test('a change that was accepted is there, also when another was made meanwhile by a clock that is ahead', async () => {
    const table = await engine.table(GOLD_SCHEMA);
    const { ignores } = await GoldStore.open(table);
    const { id } = await ignores.create({ query: 'a=b', expires: HOUR, by: 'ada' });
    const ahead = new IgnoreRules(table, () => Date.now() + HOUR);
    let isFirst = true;
    const slow = new IgnoreRules(
      new Proxy(table, {
        get(target, name) {
          const value = Reflect.get(target, name);
          if (name !== 'checkAndMutateRow') return typeof value === 'function' ? value.bind(target) : value;
          return async (...args: unknown[]) => {
            if (isFirst) {
              isFirst = false;
              await ahead.update(id, { query: 'a=ahead', expires: HOUR, by: 'bob' });
            }
            return value.apply(target, args);
          };
        },
      }),
    );
    await slow.update(id, { query: 'a=mine', expires: HOUR, by: 'ada' });
    expect((await ignores.list())[0].query).toBe('a=mine');
  });

  test('of several the oldest is named', async () => {
    const ignores = await open();
    const first = await ignores.create({ query: 'a=*', expires: 2 * HOUR, by: 'ada' });
    // Rules of one millisecond have no order of age.
    while (Date.now() === first.createdMs);
    await ignores.create({ query: 'a=b', expires: 2 * HOUR, by: 'ada' });
    expect((await ignores.matcher(HOUR))({ a: 'b' })?.id).toBe(first.id);
  });

  test('wrong ones are refused', async () => {
    const ignores = await open();
    const good = { query: 'a=b', expires: HOUR, by: 'ada' };
    for (const bad of [
      { ...good, query: '' },
      { ...good, query: '&&' },
      { ...good, query: 'a' },
      { ...good, query: 'a=~(' },
      { ...good, query: `a=${'x'.repeat(10_000)}` },
      { ...good, expires: Number.NaN },
      { ...good, by: '' },
      { ...good, note: 'x'.repeat(1001) },
    ]) {
      await expect(ignores.create(bad)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    }
    for (const id of ['', '../x', 'A'.repeat(16), 5 as unknown as string]) {
      await expect(ignores.update(id, good)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
      await expect(ignores.delete(id)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    }
    expect(await ignores.list()).toEqual([]);
  });
});
