// A WeakList has what was put into it in order, keeps none of it alive, and does not grow with what is gone.
import { expect, test, vi } from 'vitest';
import { WeakList } from '../../../src/base/maps/weak-list.js';

test('what is there, in order, as many as are asked for', () => {
  const items = Array.from({ length: 1000 }, (_, i) => ({ i }));
  const list = new WeakList<object>();
  for (const item of items) list.add(item);
  expect(list.first(3)).toEqual(items.slice(0, 3));
  expect(list.first(Number.POSITIVE_INFINITY)).toEqual(items);
});

test('what is gone is left out, and what came later is found', async () => {
  const list = new WeakList<object>();
  for (let i = 0; i < 1000; i++) list.add({ i });
  const kept = [{ kept: 1 }, { kept: 2 }];
  for (const item of kept) list.add(item);
  const left = () => {
    globalThis.gc?.();
    return list.first(Number.POSITIVE_INFINITY).length;
  };
  // What the engine has in its hands is a few of them.
  await expect.poll(left).toBeLessThan(10);
  for (let i = 0; i < 100; i++) list.add(kept);
  const looked = vi.spyOn(WeakRef.prototype, 'deref');
  const found = list.first(Number.POSITIVE_INFINITY);
  expect(looked.mock.calls.length).toBeLessThan(200);
  looked.mockRestore();
  expect(found.slice(-102)).toEqual([...kept, ...Array(100).fill(kept)]);
});
