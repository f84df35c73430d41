// A unit tells better from worse by the table, an override goes before it, and an unknown unit stays unknown.
import { expect, test } from 'vitest';
import { DIRECTION_BY_UNIT, directionOf } from '../../../src/tracedb/detect/direction.js';

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
  expect(directionOf('_s')).toBe('down');
  expect(directionOf('widgets_day')).toBe('unknown');
  expect(directionOf('widgets_day', { 'widgets/day': 'up' })).toBe('up');
});
