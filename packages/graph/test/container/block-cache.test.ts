// A cache keeps what was used last, never more bytes than it may, and counts what it did.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { BlockCache } from '../../src/container/block-cache.js';

describe('BlockCache', () => {
  test('forgets what was used longest ago', () => {
    const cache = new BlockCache<string>(10);
    cache.set('a', 'A', 4);
    cache.set('b', 'B', 4);
    expect(cache.get('a')).toBe('A');
    cache.set('c', 'C', 4);
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['A', undefined, 'C']);
    expect(cache.stats()).toEqual({ hits: 3, misses: 1, evictions: 1, bytes: 8, maxBytes: 10 });
  });

  test('does not keep what is larger than itself, nor what that replaced', () => {
    const cache = new BlockCache<string>(10);
    cache.set(1, 'small', 5);
    cache.set(1, 'large', 11);
    expect(cache.get(1)).toBeUndefined();
    expect(cache.stats()).toMatchObject({ bytes: 0, evictions: 0 });
  });

  test('holds its bound, and what a list of the last uses holds', () => {
    const step = fc.tuple(fc.nat(8), fc.nat(7), fc.boolean());
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cache = new BlockCache<number>(20);
        let model: { key: number; value: number; bytes: number }[] = [];
        steps.forEach(([key, bytes, isRead], value) => {
          const found = model.find((entry) => entry.key === key);
          model = model.filter((entry) => entry !== found);
          if (isRead) {
            expect(cache.get(key)).toBe(found?.value);
            if (found !== undefined) model.push(found);
          } else {
            cache.set(key, value, bytes);
            model.push({ key, value, bytes });
            while (model.reduce((sum, entry) => sum + entry.bytes, 0) > 20) model.shift();
          }
          expect(cache.stats().bytes).toBe(model.reduce((sum, entry) => sum + entry.bytes, 0));
        });
        cache.clear();
        expect(cache.stats().bytes).toBe(0);
        expect(cache.get(0)).toBeUndefined();
      }),
    );
  });
});
