// Shares add up, have intervals, and rank only what the samples can tell apart.
import { expect, test } from 'vitest';
import { type LabelledProfile, type LabelRecord, SampleKind, shares } from '../src/index.js';
import { wilson } from '../src/shares.js';
import { ROOT_ONLY } from './support/root-only.js';

/** A profile of so many samples a label, each of a millisecond. */
const profileOf = (numbers: readonly number[], kinds: readonly number[] = []): LabelledProfile => {
  const label = Uint32Array.from(numbers.flatMap((n, i) => Array<number>(n).fill(i + 3)));
  const count = label.length;
  const records = numbers.map((_, i): LabelRecord => ({ query: `q${i}` }));
  return {
    startNs: 0,
    endNs: count * 1e6,
    startUnixNs: 0n,
    unit: 'cpu',
    intervalNs: 1e6,
    carrier: 'register',
    threadId: 0,
    nodes: ROOT_ONLY,
    samples: {
      count,
      node: new Uint32Array(count),
      atNs: Float64Array.from({ length: count }, (_, i) => i * 1e6),
      cpuNs: new Float64Array(count).fill(1e6),
      label,
      kind: Uint8Array.from({ length: count }, (_, i) => kinds[i] ?? SampleKind.js),
    },
    labels: [{}, {}, {}, ...records],
    counts: { total: count, labelled: count, unlabelled: 0, lost: 0, overflow: 0, idle: 0, gc: 0, program: 0 },
  };
};

test('a share is of all busy samples, with its interval and standard error', () => {
  const [first, second] = shares(profileOf([300, 100]), 'query');
  expect(first).toMatchObject({ value: 'q0', samples: 300, cpuNs: 3e8, share: 0.75, rank: 1 });
  expect(first.stderrNs).toBeCloseTo(Math.sqrt(300) * 1e6);
  // By Wilson's formula for 300 of 400.
  expect([first.low, first.high].map((bound) => bound.toFixed(4))).toEqual(['0.7053', '0.7899']);
  expect(second).toMatchObject({ value: 'q1', share: 0.25, rank: 2 });
});

test('labels within noise of each other have one rank', () => {
  expect(shares(profileOf([105, 100, 20]), 'query').map(({ rank }) => rank)).toEqual([1, 1, 3]);
});

test('idle time and garbage collection are nobody’s share', () => {
  const kinds = [SampleKind.idle, SampleKind.gc, SampleKind.js, SampleKind.js];
  expect(shares(profileOf([3, 1], kinds), 'query').map(({ value, share }) => [value, share])).toEqual([
    ['q0', 0.5],
    ['q1', 0.5],
  ]);
});

test('no samples: no rows; and an interval that says that nothing is known', () => {
  expect(shares(profileOf([]), 'query')).toEqual([]);
  expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  const { low, high } = wilson(0, 10);
  expect(low).toBe(0);
  expect(high).toBeGreaterThan(0.2);
});
