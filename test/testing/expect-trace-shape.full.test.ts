// expectTraceShape under vitest and under node:test: a query in a loop and a lost span fail with both trees, what was accepted passes, and the
// same with digests in a Gold store that people triage.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { GOLD_SCHEMA, GoldStore, openTable } from '../../packages/tracedb/src/index.js';
import { expectTraceShape } from '../../src/testing/index.js';
import type { ShapedSpan } from '../../src/testing/trace-shape.js';
import { buildFirst, scratch } from '../support/built.js';
import { runFile } from '../support/child.js';

const orders = (items: number): ShapedSpan[] => [
  { traceId: 't', spanId: 'root', parentSpanId: '', name: 'GET /orders' },
  ...Array.from({ length: items }, (_, i) => ({
    traceId: 't',
    spanId: `s${i}`,
    parentSpanId: 'root',
    name: 'SELECT item',
  })),
];

const failureOf = (work: Promise<void>): Promise<Error & { actual?: unknown; expected?: unknown; code?: string }> =>
  work.then(
    () => Promise.reject(new Error('it passed')),
    (error) => error,
  );

describe('shapes in a file', () => {
  const dir = scratch();
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test('the first run at a desk accepts, another shape fails with both trees and leaves the file', async () => {
    vi.stubEnv('CI', '');
    const file = join(dir, 'new', 'orders.shapes');
    await expectTraceShape(orders(1), { name: 'GET /orders', file });
    const kept = readFileSync(file, 'utf8');
    expect(kept).toMatch(/^#.*\n\n== GET \/orders\n {2}GET \/orders\n {4}SELECT item\n$/);
    const error = await failureOf(expectTraceShape({ spans: orders(3) }, { name: 'GET /orders', file }));
    expect(error).toMatchObject({
      code: 'ERR_ASSERTION',
      actual: 'GET /orders\n  SELECT item ×3',
      expected: 'GET /orders\n  SELECT item',
    });
    expect(error.message).toContain('+   SELECT item ×3');
    expect(readFileSync(file, 'utf8')).toBe(kept);
    await expectTraceShape(orders(1), { name: 'GET /orders', file });
    await failureOf(expectTraceShape(orders(0), { name: 'GET /orders', file }));
  });

  test('where CI is set an unknown shape fails, and an update accepts beside others', async () => {
    const file = join(dir, 'ci.shapes');
    vi.stubEnv('CI', 'true');
    expect((await failureOf(expectTraceShape(orders(1), { name: 'a', file }))).message).toContain(
      'SPANLINE_UPDATE_SHAPES=1',
    );
    expect(existsSync(file)).toBe(false);
    vi.stubEnv('SPANLINE_UPDATE_SHAPES', '1');
    await expectTraceShape(orders(1), { name: 'b', file });
    await expectTraceShape(orders(2), { name: 'a', file });
    vi.stubEnv('SPANLINE_UPDATE_SHAPES', '');
    await expectTraceShape(orders(1), { name: 'b', file });
    await expectTraceShape(orders(2), { name: 'a', file });
    await failureOf(expectTraceShape(orders(3), { name: 'a', file }));
    await expectTraceShape(orders(3), { name: 'c', file, counts: 'ignore', update: true });
    await expectTraceShape(orders(7), { name: 'c', file, counts: 'ignore' });
  });

  test('wrong options and a file that is something else are named', async () => {
    const file = join(dir, 'else.txt');
    writeFileSync(file, 'shopping list\n');
    const codeOf = async (options: object): Promise<string | undefined> =>
      (await failureOf(expectTraceShape([], options as never))).code;
    expect(await codeOf({ name: 'a', file })).toBe('ERR_SPANLINE_SHAPES_FILE');
    for (const options of [
      { name: 'a' },
      { name: '', file },
      { name: 'a\nb', file },
      { name: 'a', file, counts: 'some' },
    ])
      expect(await codeOf(options)).toBe('ERR_SPANLINE_BAD_OPTIONS');
    expect(readFileSync(file, 'utf8')).toBe('shopping list\n');
  });
});

describe('shapes in a Gold store', () => {
  const dir = scratch();

  test('a new shape is untriaged and fails until somebody says that it is right', async () => {
    const table = await openTable(join(dir, 'gold'), { ...GOLD_SCHEMA, make: true });
    try {
      const store = await GoldStore.open(table);
      const options = { name: 'GET /orders', gold: { store, commit: 0 } };
      const { message } = await failureOf(expectTraceShape(orders(1), options));
      const [, place, testName, digest] = /gold triage --store "(.*)" (\S+) positive (\S+)/.exec(message) ?? [];
      expect(place).toBe(join(dir, 'gold'));
      await store.expectations.triage([{ test: testName, digest, status: 'positive' }], { by: 'ada' });
      await expectTraceShape(orders(1), options);
      expect((await store.texts([digest])).get(digest)).toBe('GET /orders\n  SELECT item');
      const commitInfo = { hash: 'b'.repeat(40), timestampMs: 86_400_000 };
      const later = { ...options, gold: { store, commit: 1, commitInfo } };
      expect((await failureOf(expectTraceShape(orders(9), later))).message).toContain('nobody has triaged');
      expect(await store.commitInfos([0, 1])).toEqual(new Map([[1, commitInfo]]));
      expect((await store.search(10)).results).toHaveLength(1);
      await expectTraceShape(orders(9), { ...later, update: true });
      await expectTraceShape(orders(9), later);
      const [wrong] = (await store.getTile(10)).traces[0].digests.slice(-1);
      await store.expectations.triage([{ test: testName, digest: wrong, status: 'negative' }], { by: 'ada' });
      expect((await failureOf(expectTraceShape(orders(9), later))).message).toContain('said to be wrong');
    } finally {
      await table.close();
    }
  });
});

describe('under node:test', () => {
  buildFirst();
  const dir = scratch();
  const child = fileURLToPath(new URL('./children/orders.test.mjs', import.meta.url));

  test('a query in a loop fails the run and is shown', async () => {
    const shapes = join(dir, 'orders.shapes');
    const run = (items: number, env: Record<string, string> = {}) =>
      runFile(child, {
        execArgv: ['--test'],
        env: { ITEMS: String(items), SHAPES: shapes, CI: '', ...env },
      });
    expect(await run(1)).toMatchObject({ code: 0 });
    const failed = await run(5);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('SELECT item ×5');
    expect(await run(5, { SPANLINE_UPDATE_SHAPES: '1' })).toMatchObject({ code: 0 });
    expect(await run(5)).toMatchObject({ code: 0 });
  });
});
