// Checks of options: what is right passes, and what is wrong is named with what it must be.
import { expect, test } from 'vitest';
import { anyNumber, finiteNumber, flag, oneOf, shown, wholeNumber } from '../../../src/base/options/checks.js';

const toError = (message: string): Error => new RangeError(message);

test('whole numbers', () => {
  expect(wholeNumber('n', 3, [1, 5], toError)).toBe(3);
  expect(wholeNumber('n', 2 ** 53 - 1, [1], toError)).toBe(2 ** 53 - 1);
  const wrong = (value: unknown) => () => wholeNumber('n', value, [1, 5], toError);
  expect(wrong(0)).toThrow(new RangeError('n must be a whole number from 1 to 5, not 0'));
  for (const value of [6, 1.5, Number.NaN, '3', null, undefined, 3n, [3], {}]) expect(wrong(value)).toThrow(RangeError);
  expect(() => wholeNumber('n', -1, [0], toError)).toThrow('n must be a whole number from 0 on, not -1');
});

test('finite numbers', () => {
  expect(finiteNumber('n', 0.5, [0], toError)).toBe(0.5);
  expect(() => finiteNumber('n', Number.POSITIVE_INFINITY, [0], toError)).toThrow(
    'n must be a finite number from 0 on, not Infinity',
  );
  expect(() => finiteNumber('n', 2, [0, 1], toError)).toThrow('n must be a finite number from 0 to 1, not 2');
});

test('numbers that may be infinite', () => {
  expect(anyNumber('n', Number.POSITIVE_INFINITY, [0], toError)).toBe(Number.POSITIVE_INFINITY);
  expect(() => anyNumber('n', Number.NaN, [1], toError)).toThrow('n must be a number from 1 on, not NaN');
});

test('flags and choices', () => {
  expect(flag('f', false, toError)).toBe(false);
  expect(() => flag('f', 1, toError)).toThrow('f must be true or false, not 1');
  expect(oneOf('c', 'a', ['a', 'b'], toError)).toBe('a');
  expect(() => oneOf('c', 'x', ['a', 'b'], toError)).toThrow('c must be one of a, b, not x');
});

test('any value can be shown', () => {
  expect([Object.create(null), [1], Symbol('s'), 5n, null, undefined].map(shown)).toEqual([
    'an object',
    'an array',
    'Symbol(s)',
    '5',
    'null',
    'undefined',
  ]);
});
