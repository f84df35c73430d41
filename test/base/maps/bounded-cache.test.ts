// A bounded cache never holds more than its bound, never gives a wrong value, and keeps what is used.
import { expect, test } from 'vitest';
import { BoundedCache } from '../../../src/base/maps/maps.js';
import fc from '../../support/fast-check.js';
import { samples } from '../../support/samples.js';

test('a cache holds at most its bound and answers like a map, or not at all', () => {
  const steps = fc.array(fc.record({ key: fc.nat(199), isSet: fc.boolean() }), { maxLength: 500, size: 'max' });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 101 }), steps, (capacity, program) => {
      const cache = new BoundedCache<number, number>(capacity);
      const model = new Map<number, number>();
      let kept = 0;
      for (const [i, { key: any, isSet }] of program.entries()) {
        const key = any % (2 * capacity);
        if (isSet) {
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
      expect(cache.evicted).toBeLessThanOrEqual(kept);
      // What is no longer there was evicted, and counted.
      expect(cache.evicted).toBeGreaterThanOrEqual(model.size - cache.size);
    }),
    { numRuns: samples(50, 500) },
  );
});

test('what is asked for again and again stays while others pass', () => {
  const cache = new BoundedCache<string, number>(10);
  cache.set('dear', 1);
  for (let i = 0; i < 1000; i++) {
    cache.set(`passing ${i}`, i);
    expect(cache.get('dear')).toBe(1);
  }
});
