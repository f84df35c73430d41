// Only values far outside are moved, and only to the fence.
import { expect, test } from 'vitest';
import { drawOutliersIn } from '../../src/detect/jumps.js';

const drawn = (...values: number[]): number[] => Array.from(drawOutliersIn(Float64Array.from(values)));

test('a far value is moved to three interquartile ranges beyond the quartile', () => {
  // NumPy 2.4.6: percentile(values, [25, 75]) = 3.25, 7.75 and 2.25, 6.75
  expect(drawn(1, 2, 3, 4, 5, 6, 7, 8, 9, 100)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 7.75 + 3 * 4.5]);
  expect(drawn(1, 2, 3, 4, 5, 6, 7, 8, 9, -100)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 2.25 - 3 * 4.5]);
});

test('values within the fences stay as they are, in their order', () => {
  expect(drawn(9, 1, 5, 14, 3)).toEqual([9, 1, 5, 14, 3]);
  expect(drawn(2, 7)).toEqual([2, 7]);
});

test('where most values are equal, the others are not outliers', () => {
  expect(drawn(512, 512, 512, 512, 512, 512, 520, 520)).toEqual([512, 512, 512, 512, 512, 512, 520, 520]);
});
