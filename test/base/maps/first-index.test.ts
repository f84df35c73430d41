import { expect, test } from 'vitest';
import { firstIndex } from '../../../src/base/maps/first-index.js';

test('it finds the place by halves, and the end where there is none', () => {
  const numbers = [2, 3, 3, 5, 8];
  const firstFrom = (number: number): number => firstIndex(0, numbers.length, (i) => numbers[i] >= number);
  expect([1, 2, 3, 4, 8, 9].map(firstFrom)).toEqual([0, 0, 1, 3, 4, 5]);
});

test('it asks for nothing outside of its bounds, which may be one, or the wrong way round', () => {
  const asked: number[] = [];
  const never = (i: number): boolean => asked.push(i) === 0;
  expect([firstIndex(2, 5, never), firstIndex(3, 3, never), firstIndex(1, 0, never)]).toEqual([5, 3, 1]);
  expect(asked.every((i) => i >= 2 && i < 5)).toBe(true);
});
