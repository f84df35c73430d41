// The table ranks what samples can tell apart; the comparison finds a change that is there and, of profiles of the same, none.
import { describe, expect, test } from 'vitest';
import { samples } from '../../../../test/support/samples.js';
import { countSamples, type LabelRecord, recordFrom } from '../../src/labelled-profile.js';
import { labelKeys } from '../../src/output/select-labels.js';
import { toSpeedscope } from '../../src/output/speedscope.js';
import { diff, holm, normalTwoSided, top } from '../../src/shares.js';
import { sampled, seeded, shop } from '../support/sampled.js';

describe('top', () => {
  test('CPU by query, what is nobody’s beside it', () => {
    const table = top(shop(), { by: 'query' });
    expect(table).toMatchObject({ cpuNs: 9.6e8, samples: 960, gcNs: 4e7, gcSamples: 40, idleSamples: 300, omitted: 0 });
    expect(table.rows.map(({ value, samples, rank }) => [value, samples, rank])).toEqual([
      ['q1', 600, 1],
      ['q2', 210, 2],
      ['', 150, 3],
    ]);
    for (const { share, low, high } of table.rows) expect(low < share && share < high).toBe(true);
  });

  test('labels within noise of each other have one rank; rows beyond the limit are counted', () => {
    const parts = [105, 100, 20].map((samples, i) => ({ stack: ['main'], labels: { q: `q${i}` }, samples }));
    const { rows, omitted } = top(sampled(parts), { by: 'q', limit: 2 });
    expect(rows.map(({ rank }) => rank)).toEqual([1, 1]);
    expect(omitted).toBe(1);
  });

  test('its length, and the CPU time of all rows, also of those left out', () => {
    const table = top(shop(), { by: 'query', limit: 1 });
    expect(table).toMatchObject({
      durationNs: 1.3e9,
      cpuNs: 9.6e8,
      samples: 960,
      omitted: 2,
      unit: 'cpu',
      by: 'query',
    });
  });

  test('without a key, and with `label`: all labels of a sample together', () => {
    const names = ['query=q1, tenant=a, rows=7', 'query=q2, tenant=b, rows=9', ''];
    expect(top(shop()).rows.map(({ value }) => value)).toEqual(names);
    const own = sampled([{ stack: ['main'], labels: { label: 'mine', other: 1 }, samples: 1 }]);
    expect(top(own, { by: 'label' }).rows.map(({ value }) => value)).toEqual(['mine']);
  });
});

test.each(['constructor', '__proto__', 'toString'])('a key named %s is a key like any other', (key) => {
  const profile = sampled([
    { stack: ['main'], labels: recordFrom([[key, 'v']]), samples: 3 },
    { stack: ['main'], samples: 1 },
  ]);
  const values = top(profile, { by: key }).rows.map(({ value, samples }) => [value, samples]);
  expect(values).toEqual([
    ['v', 3],
    ['', 1],
  ]);
  expect(top(shop(), { by: key }).rows.map(({ value }) => value)).toEqual(['']);
  expect(toSpeedscope(profile, { by: key }).profiles.map(({ name }) => name)).toEqual(['all labels', 'v', 'no label']);
});

test('all labels together: two records are two rows, whatever their text', () => {
  const long = 'x'.repeat(300);
  const records: LabelRecord[] = [
    { q: `${long}1` },
    { q: `${long}2` },
    { q: '1', t: '2' },
    { q: '1, t=2' },
    { q: '"1, t=2"' },
    { 'q=1, t': '2' },
    { 'q=1': ', t=2' },
  ];
  const { rows } = top(sampled(records.map((labels, i) => ({ stack: ['main'], labels, samples: i + 1 }))));
  expect(rows.map(({ samples }) => samples).sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
});

/** So many samples, each given to a label by chance. */
const drawn = (shares: readonly number[], count: number, random: () => number) => {
  const numbers = shares.map(() => 0);
  for (let i = 0; i < count; i++) {
    let at = random();
    let label = 0;
    while (label < shares.length - 1 && at >= shares[label]) at -= shares[label++];
    numbers[label]++;
  }
  return sampled(numbers.map((samples, i) => ({ stack: ['main'], labels: { q: `q${i}` }, samples })));
};

describe('diff', () => {
  test('a label that grew from 20 to 30 percent is found, with its interval', () => {
    const random = seeded(11);
    const changes = diff(drawn([0.2, 0.4, 0.4], 3000, random), drawn([0.3, 0.3, 0.4], 3000, random), { by: 'q' });
    const verdicts = Object.fromEntries(changes.map(({ value, verdict }) => [value, verdict]));
    expect(verdicts).toEqual({ q0: 'more', q1: 'less', q2: 'same' });
    for (const { change, low, high } of changes) expect(low < change && change < high).toBe(true);
  });

  test('of pairs of profiles of the same, at most one in twenty shows a change', () => {
    // The pairs are the same each time: chance decides nothing here.
    const random = seeded(5);
    const pairs = samples(20, 160, 4000);
    let wrong = 0;
    for (let i = 0; i < pairs; i++) {
      const shares = [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05];
      const changes = diff(drawn(shares, 500, random), drawn(shares, 700, random), { by: 'q', minEffect: 0 });
      if (changes.some(({ verdict }) => verdict !== 'same')) wrong++;
    }
    // One in twenty is expected at most; three standard deviations above that is a fault.
    expect(wrong).toBeLessThan(pairs * 0.05 + 3 * Math.sqrt(pairs * 0.05 * 0.95));
  });

  test('a change below the smallest effect is none, however sure', () => {
    const of = (a: number, b: number) =>
      sampled([
        { stack: ['main'], labels: { q: 'a' }, samples: a },
        { stack: ['main'], labels: { q: 'b' }, samples: b },
      ]);
    const [before, after] = [of(20_000, 20_000), of(20_320, 19_680)];
    expect(diff(before, after, { by: 'q' }).map(({ verdict }) => verdict)).toEqual(['same', 'same']);
    expect(
      diff(before, after, { by: 'q', minEffect: 0.001 })
        .map(({ verdict }) => verdict)
        .sort(),
    ).toEqual(['less', 'more']);
  });

  test('two profiles are grouped alike, also when one has a key that is called as all labels together are', () => {
    const before = sampled([{ stack: ['main'], labels: { label: 'mine', q: 1 }, samples: 100 }]);
    const after = sampled([{ stack: ['main'], labels: { q: 1 }, samples: 100 }]);
    const rows = diff(before, after).map(({ value, before: from, after: to }) => [value, from, to]);
    expect(rows.sort()).toEqual([
      ['', 0, 1],
      ['mine', 1, 0],
    ]);
  });

  test('the interval of a difference, by the published example (48 of 80 and 56 of 70)', () => {
    const of = (yes: number, no: number) =>
      sampled([
        { stack: ['main'], labels: { q: 'yes' }, samples: yes },
        { stack: ['main'], labels: { q: 'no' }, samples: no },
      ]);
    const found = diff(of(48, 32), of(56, 14), { by: 'q' }).find(({ value }) => value === 'yes');
    expect(found?.change).toBeCloseTo(0.2, 12);
    expect(found?.low).toBeCloseTo(0.0524, 4);
    expect(found?.high).toBeCloseTo(0.3339, 4);
    expect([found?.cpuNsBefore, found?.cpuNsAfter]).toEqual([4.8e7, 5.6e7]);
  });

  test('a few heavy samples prove less than many equal ones', () => {
    const of = (cpuNs: number, samples: number) =>
      sampled([
        { stack: ['main'], labels: { q: 'a' }, samples, cpuNs },
        { stack: ['main'], labels: { q: 'b' }, samples: 1000, cpuNs: 1000 },
      ]);
    const p = (cpuNs: number, samples: number) => diff(of(1000, 1000), of(cpuNs, samples), { by: 'q' })[0].pValue;
    // Two thirds of the CPU time each: of two thousand samples, or of four among a thousand.
    expect(p(1000, 2000)).toBeLessThan(1e-9);
    expect(p(500_000, 4)).toBeGreaterThan(0.1);
  });

  test('labels that come and go are compared with nothing; empty profiles with each other', () => {
    const before = sampled([{ stack: ['main'], labels: { q: 'old' }, samples: 100 }]);
    const after = sampled([{ stack: ['main'], labels: { q: 'new' }, samples: 100 }]);
    const verdicts = diff(before, after, { by: 'q' }).map(({ value, verdict }) => `${value} ${verdict}`);
    expect(verdicts.sort()).toEqual(['new more', 'old less']);
    expect(diff(sampled([]), sampled([]))).toEqual([]);
    expect(diff(sampled([]), after).map(({ verdict }) => verdict)).toEqual(['same']);
  });
});

test('tails of the normal distribution, by published tables', () => {
  expect(normalTwoSided(0)).toBeCloseTo(1, 12);
  expect(normalTwoSided(1.959963984540054)).toBeCloseTo(0.05, 12);
  expect(normalTwoSided(-2.5758293035489)).toBeCloseTo(0.01, 12);
  expect(normalTwoSided(5) / 5.733031437583878e-7).toBeCloseTo(1, 9);
  expect(normalTwoSided(10) / 1.5239706048321e-23).toBeCloseTo(1, 9);
});

test('Holm’s correction', () => {
  expect(holm([0.01, 0.04, 0.03]).map((p) => p.toFixed(2))).toEqual(['0.03', '0.06', '0.06']);
  expect(holm([])).toEqual([]);
});

test('label keys are those of samples, not of a table', () => {
  expect(labelKeys(shop())).toEqual(['query', 'rows', 'tenant']);
  expect(labelKeys(sampled([{ stack: ['main'], samples: 1 }]))).toEqual([]);
});

test('what became of each sample is counted once', () => {
  const counts = { total: 1300, labelled: 810, unlabelled: 100, lost: 0, overflow: 0, idle: 300, gc: 40, program: 50 };
  expect(countSamples(shop().samples)).toEqual(counts);
});
