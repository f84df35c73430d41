// A unit tells better from worse by the table, an override goes before it, and an unknown unit stays unknown.
import { expect, test } from 'vitest';
import { DIRECTION_BY_UNIT, declaredDirection, directionOf, unitOfParams } from '../../src/detect/direction.js';

test.each(['ops/sec', 'ops/s', 'MB/s', 'spans/s', ' Hz '])('more %s is better', (unit) => {
  expect(directionOf(unit)).toBe('up');
});

test.each(['ns', 'us', 'µs', 'ms', 's', 'bytes', 'MB', '%', '% overhead', 'ns/op', 'ns/iter', 'bytes/span'])(
  'fewer %s are better',
  (unit) => {
    expect(directionOf(unit)).toBe('down');
  },
);

test.each(['', 'score', 'toString', 'm'])('%j is unknown', (unit) => {
  expect(directionOf(unit)).toBe('unknown');
});

test('an override goes before the table, whatever its case', () => {
  expect(directionOf('%', { '%': 'up' })).toBe('up');
  expect(directionOf('FPS', { fps: 'up' })).toBe('up');
  expect(directionOf('ms', { MS: 'unknown' })).toBe('unknown');
});

test('no unit of the table is written in a way that is never looked up', () => {
  for (const unit of DIRECTION_BY_UNIT.keys()) expect(unit).toBe(unit.trim().toLowerCase());
});

test('a unit that went through the cleaning rule keeps its direction', () => {
  expect(directionOf('ops_sec')).toBe('up');
  expect(directionOf('ns_op')).toBe('down');
  expect(directionOf('widgets_day')).toBe('unknown');
  expect(directionOf('widgets_day', { 'widgets/day': 'up' })).toBe('up');
});

// `µs` and `/s` both become `_s`, `%`, `#` and `°` become `_`: whoever reads them back cannot tell which it was.
test.each(['_', '_s', '_s_op', '__overhead'])('%j, which cleaning makes of more than one unit, is unknown', (unit) => {
  expect(directionOf(unit)).toBe('unknown');
});

test.each([
  ['ms_smallerIsBetter', 'down'],
  ['unitless_biggerIsBetter', 'up'],
  ['MB_biggerIsBetter', 'up'],
])('%s says itself that better is %s', (unit, direction) => {
  expect(directionOf(unit)).toBe(direction);
});

test('what was declared goes before the table, and an override before both', () => {
  expect(directionOf('MB', {}, 'up')).toBe('up');
  expect(directionOf('MB', { mb: 'down' }, 'up')).toBe('down');
  expect(directionOf('ms', {}, undefined)).toBe('down');
});

test('an override of the unit as it stands goes before one that cleaning makes the same', () => {
  expect(directionOf('_', { '#': 'up', _: 'down' })).toBe('down');
});

test.each<[Record<string, string>, string, string | undefined]>([
  [{ test: 'a', unit: 'ms' }, 'ms', undefined],
  [{ test: 'a', units: 'ms' }, 'ms', undefined],
  [{ test: 'a', unit: 'ns', units: 'ms' }, 'ns', undefined],
  // `"measurements": { "ms": [{ "value": "median", ... }] }` of Skia's format.
  [{ test: 'a', ms: 'median' }, 'ms', undefined],
  [{ test: 'a', ms: 'yes', arch: 'max' }, '', undefined],
  [{ test: 'a', unit: 'score', improvement_direction: 'up' }, 'score', 'up'],
  [{ test: 'a', improvement_direction: 'sideways' }, '', undefined],
])('params %j have the unit %j and declare %s', (params, unit, direction) => {
  expect(unitOfParams(params)).toBe(unit);
  expect(declaredDirection(params)).toBe(direction);
});
