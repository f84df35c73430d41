// Scopes of other libraries: one number for each, and one object for equal descriptions, whoever asks.
import { expect, test } from 'vitest';
import { internedScope, internScope, spanScope } from '../../src/rows/row-text.js';

test('a scope has one number, by which it is found again; no number is this library', () => {
  const scopes = ['one', 'two', 'three'].map((name) => spanScope(`numbered ${name}`, '1.0'));
  const numbers = scopes.map(internScope);
  expect(scopes.map(internScope)).toEqual(numbers);
  expect(new Set(numbers).size).toBe(3);
  expect(Math.min(...numbers)).toBeGreaterThan(0);
  expect(numbers.map(internedScope)).toEqual(scopes);
  expect(internedScope(0)).toBeUndefined();
});

test('equal descriptions are one scope, and any difference makes another', () => {
  const described: Parameters<typeof spanScope>[] = [
    ['described', '1.0', 'https://schema', { a: 1, b: 'x' }],
    ['described', '1.0', 'https://schema', { a: 1, b: 'y' }],
    ['described', '1.0', 'https://schema', { a: 1, c: 'x' }],
    ['described', '1.0', 'https://schema', { a: 1 }],
    ['described', '1.0', 'https://schema'],
    ['described', '1.0', '', { a: 1, b: 'x' }],
    ['described', '1.1', 'https://schema', { a: 1, b: 'x' }],
    ['another', '1.0', 'https://schema', { a: 1, b: 'x' }],
  ];
  const scopes = described.map((one) => {
    const scope = spanScope(...one);
    internScope(scope);
    return scope;
  });
  expect(new Set(scopes).size).toBe(described.length);
  described.forEach((one, i) => {
    expect(spanScope(...one)).toBe(scopes[i]);
  });
  expect(spanScope('described', '1.0', 'https://schema', { b: 'x', none: undefined, a: 1 })).toBe(scopes[0]);
});
