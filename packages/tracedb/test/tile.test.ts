// Commits fall into tiles by whole division, and the key of a newer tile sorts before that of an older one.

import { describe, expect, test } from 'vitest';
import fc from '../../../test/support/fast-check.js';
import { checkSettings } from '../src/params/store-settings.js';
import { PERF_CONFIG } from '../src/perf/keys.js';
import { checkCommit, MAX_TILE, offsetOf, tileKey, tileOf, tileOfKey } from '../src/tile.js';

const code = (body: () => unknown): string => {
  try {
    body();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
};

test.each([
  [0, 256, 0, 0],
  [255, 256, 0, 255],
  [256, 256, 1, 0],
  [300, 256, 1, 44],
  [8191, 8192, 0, 8191],
  [8192, 8192, 1, 0],
  [MAX_TILE, 1, MAX_TILE, 0],
])('commit %i in tiles of %i is in tile %i, column %i', (commit, size, tile, offset) => {
  expect([tileOf(commit, size), offsetOf(commit, size)]).toEqual([tile, offset]);
});

test('a commit is its tile and its column, for every size', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: MAX_TILE }), fc.integer({ min: 1, max: 8192 }), (commit, size) => {
      const offset = offsetOf(commit, size);
      expect(tileOf(commit, size) * size + offset).toBe(commit);
      expect(offset >= 0 && offset < size).toBe(true);
    }),
  );
});

test.each([
  [0, '2147483647'],
  [1, '2147483646'],
  [5, '2147483642'],
  [147483648, '1999999999'],
  [2147483646, '0000000001'],
  [2147483647, '0000000000'],
])('the key of tile %i is %s', (tile, key) => {
  expect(tileKey(tile)).toBe(key);
  expect(tileOfKey(key)).toBe(tile);
});

test('the newest tile sorts first', () => {
  const tile = fc.integer({ min: 0, max: MAX_TILE });
  fc.assert(
    fc.property(tile, tile, (a, b) => {
      expect(tileKey(a) < tileKey(b)).toBe(a > b);
    }),
  );
});

describe('what is not a tile, commit or size', () => {
  test.each([-1, 1.5, Number.NaN, MAX_TILE + 1, Number.POSITIVE_INFINITY])('tile and commit %d', (number) => {
    expect(code(() => tileKey(number))).toBe('ERR_SPANLINE_INVALID_INPUT');
    expect(code(() => checkCommit(number))).toBe('ERR_SPANLINE_INVALID_INPUT');
  });

  test.each([0, -1, 8193, 2.5, Number.NaN])('a size of %d', (size) => {
    expect(code(() => checkSettings(PERF_CONFIG, { tileSize: size }))).toBe('ERR_SPANLINE_INVALID_INPUT');
  });

  test.each(['', '214748364', '21474836470', '214748364x', ' 147483647'])('the key %j', (key) => {
    expect(code(() => tileOfKey(key))).toBe('ERR_SPANLINE_STORE_CORRUPT');
  });
});
