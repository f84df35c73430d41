// Queries on one table never have more streams open than there are slots, none waits for ever, and who asks first is served first.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { MAX_OPEN_LEAVES, ReadSlots, readSlotsOf } from '../../src/query/run-query.js';
import type { WideColumnTable } from '../../src/table/wide-column-table.js';

const never = new AbortController().signal;
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

/** Takes slots and notes when it gets them. */
const asker = (slots: ReadSlots) => {
  const order: string[] = [];
  const releases = new Map<string, () => void>();
  const ask = (name: string, count: number, signal = never): Promise<string> =>
    slots.take(count, signal).then(
      (release) => {
        order.push(name);
        releases.set(name, release);
        return 'held';
      },
      (error: Error) => error.message,
    );
  return { order, releases, ask };
};

describe('read slots', () => {
  test('are taken at once while there are enough, and counted', async () => {
    const slots = new ReadSlots();
    const { ask, releases } = asker(slots);
    await Promise.all([ask('a', MAX_OPEN_LEAVES - 1), ask('b', 1)]);
    expect(slots.stats()).toEqual({ open: MAX_OPEN_LEAVES, waiting: 0, waited: 0 });
    releases.get('a')?.();
    releases.get('a')?.();
    expect(slots.stats()).toEqual({ open: 1, waiting: 0, waited: 0 });
    releases.get('b')?.();
    expect(slots.stats().open).toBe(0);
  });

  test('two that need all of them go one after the other', async () => {
    const slots = new ReadSlots();
    const { ask, releases, order } = asker(slots);
    const both = [ask('a', MAX_OPEN_LEAVES), ask('b', MAX_OPEN_LEAVES)];
    await settled();
    expect(order).toEqual(['a']);
    expect(slots.stats()).toEqual({ open: MAX_OPEN_LEAVES, waiting: 1, waited: 1 });
    releases.get('a')?.();
    expect(await Promise.all(both)).toEqual(['held', 'held']);
    expect(order).toEqual(['a', 'b']);
  });

  test('a small one does not pass a large one that waits, which would wait for ever', async () => {
    const slots = new ReadSlots();
    const { ask, releases, order } = asker(slots);
    void ask('a', 40);
    void ask('large', 60);
    void ask('small', 1);
    await settled();
    expect(order).toEqual(['a']);
    releases.get('a')?.();
    await settled();
    expect(order).toEqual(['a', 'large', 'small']);
  });

  test('one that is aborted while it waits leaves, and those behind it go on', async () => {
    const slots = new ReadSlots();
    const { ask, releases, order } = asker(slots);
    const abort = new AbortController();
    void ask('a', 40);
    const large = ask('large', 60, abort.signal);
    void ask('small', 10);
    await settled();
    expect(order).toEqual(['a']);
    abort.abort(new Error('enough'));
    expect(await large).toBe('enough');
    await settled();
    expect(order).toEqual(['a', 'small']);
    expect(slots.stats()).toEqual({ open: 50, waiting: 0, waited: 2 });
    releases.get('a')?.();
    releases.get('small')?.();
    expect(slots.stats().open).toBe(0);
  });

  test('one that was aborted before it has to wait does not wait', async () => {
    const slots = new ReadSlots();
    const { ask, releases } = asker(slots);
    await ask('a', MAX_OPEN_LEAVES);
    expect(await ask('b', 1, AbortSignal.abort(new Error('before')))).toBe('before');
    expect(slots.stats()).toEqual({ open: MAX_OPEN_LEAVES, waiting: 0, waited: 1 });
    releases.get('a')?.();
    expect(slots.stats().open).toBe(0);
  });

  test('an abort of one that has its slots takes nothing away', async () => {
    const slots = new ReadSlots();
    const { ask, releases } = asker(slots);
    const abort = new AbortController();
    await ask('a', 60);
    const b = ask('b', 10, abort.signal);
    releases.get('a')?.();
    abort.abort();
    expect(await b).toBe('held');
    expect(slots.stats().open).toBe(10);
  });

  test('more than there are cannot be waited for', async () => {
    const slots = new ReadSlots();
    await expect(slots.take(MAX_OPEN_LEAVES + 1, never)).rejects.toMatchObject({ code: 'ERR_SPANLINE_INVALID_INPUT' });
    expect(slots.stats()).toEqual({ open: 0, waiting: 0, waited: 0 });
  });

  test('whatever is asked, given back and aborted: never too many, in order, and all are served in the end', async () => {
    const anyStep = fc.oneof(
      fc.record({ take: fc.integer({ min: 1, max: MAX_OPEN_LEAVES }) }),
      fc.record({ release: fc.nat(20) }),
      fc.record({ abort: fc.nat(20) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60 }), async (steps) => {
        const slots = new ReadSlots();
        const { ask, releases, order } = asker(slots);
        const asked: { readonly name: string; readonly abort: AbortController; readonly result: Promise<string> }[] =
          [];
        const aborted = new Set<string>();
        for (const step of steps) {
          if ('take' in step) {
            const abort = new AbortController();
            const name = `${asked.length}`;
            asked.push({ name, abort, result: ask(name, step.take, abort.signal) });
          } else if ('release' in step) {
            releases.get(`${step.release}`)?.();
          } else if (asked[step.abort] !== undefined && !order.includes(`${step.abort}`)) {
            asked[step.abort]?.abort.abort(new Error('aborted'));
            aborted.add(`${step.abort}`);
          }
          await settled();
          expect(slots.stats().open).toBeLessThanOrEqual(MAX_OPEN_LEAVES);
        }
        for (let i = 0; i < asked.length; i++) {
          for (const release of releases.values()) release();
          await settled();
        }
        const results = await Promise.all(asked.map(({ result }) => result));
        expect(results).toEqual(asked.map(({ name }) => (aborted.has(name) ? 'aborted' : 'held')));
        expect(order).toEqual(asked.flatMap(({ name }) => (aborted.has(name) ? [] : [name])));
        expect(slots.stats()).toMatchObject({ open: 0, waiting: 0 });
      }),
      { numRuns: samples(50, 200, 2000) },
    );
  });

  test('belong to a table', () => {
    const [one, two] = [{}, {}] as [WideColumnTable, WideColumnTable];
    expect(readSlotsOf(one)).toBe(readSlotsOf(one));
    expect(readSlotsOf(one)).not.toBe(readSlotsOf(two));
  });
});
