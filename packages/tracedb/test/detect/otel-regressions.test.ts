// On the benchmark history of the OpenTelemetry JS SDK, the steps that anyone sees in the numbers are listed at their commit and size.
import { expect, test } from 'vitest';
import { findRegressions } from '../../src/detect/regressions.js';
import { loadStatistics } from '../../src/detect/statistics.js';
import { otelHistory } from './otel-history.js';

const history = otelHistory();
const found = findRegressions(history, {}, await loadStatistics());

/** Kind, rounded sizes, and place of the changes of one series. */
const listOf = (key: string): string[] =>
  found
    .filter((regression) => regression.key === key)
    .map(
      ({ kind, commit, change }) =>
        `${commit.number} ${commit.hash.slice(0, 8)} ${kind} ${change > 0 ? '+' : ''}${(change * 100).toFixed(0)} %`,
    );

// Every line was checked against the values around it: 692,862 -> 875,060 at line 429, 862,299 -> 293,010 at line 699 (the first run after
// three weeks without any, and every series falls by more than half, as on another machine), and so on. Between them the level
// wanders by some per cent; a rise of 4 % and a fall of 8 % there are no larger than the rest of it.
test('create spans (10 attributes)', () => {
  expect(listOf('create spans (10 attributes)')).toEqual([
    '24 654638a4 regression -10 %',
    '429 8ab52d54 improvement +23 %',
    '699 927032ff regression -65 %',
    '1078 733d6e44 improvement +65 %',
    '1268 8b90d894 improvement +24 %',
  ]);
});

test('transform 100 spans', () => {
  expect(listOf('transform 100 spans')).toEqual([
    '64 a512494b improvement +47 %',
    '105 f1b2c6d2 regression -2 %',
    '429 8ab52d54 improvement +45 %',
    '553 f2d4e549 improvement +8 %',
    '699 927032ff regression -54 %',
  ]);
});

test('two steps nine commits apart', () => {
  expect(listOf('parsePairKeyValue URI encoded')).toEqual([
    '1078 733d6e44 improvement +91 %',
    '1268 8b90d894 improvement +17 %',
    '1277 cbb4abf8 improvement +12 %',
  ]);
});

test('a change of one benchmark alone', () => {
  expect(listOf('transform 512 spans (protobuf)')).toContain('1157 21816aa5 improvement +147 %');
  expect(listOf('transform 512 metrics (protobuf)')).toContain('1187 38ca257e improvement +171 %');
});

test('what shows in every series of that time is listed for each, at one commit', () => {
  const together = found.filter(({ commit }) => commit.number === 699);
  expect(together.map(({ key }) => key).sort()).toEqual([
    'BatchSpanProcessor process span',
    'create spans (10 attributes)',
    'transform 1 span',
    'transform 100 spans',
  ]);
  for (const { kind, lastBefore, pValue } of together) {
    expect(kind).toBe('regression');
    expect(lastBefore.number).toBe(698);
    expect(pValue).toBeLessThan(1e-60);
  }
});

test('series that only scatter show nothing', () => {
  for (const { key, values } of history.filter(({ values }) => values.length < 60)) {
    expect(listOf(key), `${key} (${values.length} values)`).toEqual([]);
  }
});

test('all are significant and of the minimum effect, in order of commit', () => {
  expect(found.length).toBeGreaterThan(40);
  for (const [i, { pValue, change, commit }] of found.entries()) {
    expect(pValue).toBeLessThanOrEqual(0.05);
    expect(Math.abs(change)).toBeGreaterThanOrEqual(0.02);
    if (i > 0) expect(commit.number).toBeGreaterThanOrEqual(found[i - 1].commit.number);
  }
});
