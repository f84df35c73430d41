// Shares come out as they are: 2, 4 and 64 labels in known proportions, in synchronous and asynchronous work, within the error that so
// many samples have.
import { describe, expect, test } from 'vitest';
import { DynamicLabel, type LabelledProfile, startProfile } from '../../src/profile/index.js';
import { busyWork, jitter, withSamples, workSamples } from './support/busy-work.js';
import { carriers } from './support/carriers.js';

const MS = 600;
const PIECES = 20;

/** Within five standard errors, and three points for a machine that is busy with other things. */
const isNear = (found: number, truth: number, samples: number): boolean =>
  Math.abs(found - truth) < 5 * Math.sqrt((truth * (1 - truth)) / samples) + 0.03;

const synchronously = (label: DynamicLabel, units: number): Promise<void> => {
  label.apply(() => busyWork(units));
  return Promise.resolve();
};
const asynchronously = (label: DynamicLabel, units: number): Promise<void> =>
  label.run(async () => {
    busyWork(units / 2);
    await undefined;
    busyWork(units / 2);
  });

const workIn = async (labels: readonly DynamicLabel[], work: typeof synchronously): Promise<readonly number[]> => {
  const done = labels.map(() => 0);
  const sum = (labels.length * (labels.length + 1)) / 2;
  const end = performance.now() + MS;
  while (performance.now() < end) {
    const pieces = Array.from({ length: PIECES }, () => {
      // Label number i has i + 1 parts.
      const i = Math.floor((Math.sqrt(8 * Math.random() * sum + 1) - 1) / 2);
      const units = jitter(40);
      done[i] += units;
      return work(labels[i], units);
    });
    await Promise.all(pieces);
  }
  const all = done.reduce((a, b) => a + b);
  return done.map((units) => units / all);
};

const check = (profile: LabelledProfile, truth: readonly number[]): void => {
  const { all, byValue } = workSamples(profile, 'i');
  expect(byValue[''] ?? 0).toBeLessThanOrEqual(all * 0.03);
  const wrong = truth.map((share, i) => [i, share, (byValue[i] ?? 0) / all]).filter(([, a, b]) => !isNear(b, a, all));
  expect(wrong).toEqual([]);
};

describe.each(carriers)('carrier %s', (carrier) => {
  test.each([2, 4, 64])('%i labels, synchronous and asynchronous', async (n) => {
    for (const work of [synchronously, asynchronously]) {
      let truth: readonly number[] = [];
      const profile = await withSamples(200, async () => {
        const labels = Array.from({ length: n }, (_, i) => new DynamicLabel('i', i));
        const running = await startProfile({ everyMs: 0.5, carrier });
        truth = await workIn(labels, work);
        return running.stop();
      });
      check(profile, truth);
    }
  });
});
