// A bounded cache never holds more than its bound, never gives a wrong value, and keeps what is used.
import { expect, test } from 'vitest';
import { BoundedCache } from '../../../src/base/maps/bounded-cache.js';
import { seeded } from '../../tracedb/support/random.js';

test.each([2, 3, 10, 101])('a cache of %i holds at most that and answers like a map, or not at all', (capacity) => {
  const random = seeded(capacity);
  const cache = new BoundedCache<number, number>(capacity);
  const model = new Map<number, number>();
  let kept = 0;
  for (let i = 0; i < 5000; i++) {
    const key = Math.floor(random() * capacity * 2);
    if (random() < 0.5) {
      cache.set(key, i);
      model.set(key, i);
      expect(cache.get(key)).toBe(i);
      kept++;
    } else {
      const value = cache.get(key);
      if (value !== undefined) expect(value).toBe(model.get(key));
    }
    expect(cache.size).toBeLessThanOrEqual(capacity);
  }
  expect(cache.evicted).toBeGreaterThan(0);
  expect(cache.evicted).toBeLessThanOrEqual(kept);
});

test('what is asked for again and again stays while others pass', () => {
  const cache = new BoundedCache<string, number>(10);
  cache.set('dear', 1);
  for (let i = 0; i < 1000; i++) {
    cache.set(`passing ${i}`, i);
    expect(cache.get('dear')).toBe(1);
  }
});
