// The samples of what a label began bear the label, however it goes on, and those of other work beside it bear theirs.
import { describe, test } from 'vitest';
import { samples } from '../../../test/support/samples.js';
import { DynamicLabel, startProfile } from '../src/index.js';
import { busyAcrossAwaits, busyWork, expectShares, jitter, withSamples } from './support/busy-work.js';
import { carriers } from './support/carriers.js';
import { BOUND, FOLLOWED } from './support/continuations.js';

const MIN = samples(100, 100, 1000);

describe.each(carriers)('carrier %s', (carrier) => {
  test.each(Object.entries({ ...FOLLOWED, ...BOUND }))('%s: its samples bear the label', async (_, way) => {
    let done = new Map<string, number>();
    const work = (value: string, units: number): void => {
      done.set(value, (done.get(value) ?? 0) + units);
      busyWork(units);
    };
    const profile = await withSamples(MIN, async (cpuMs) => {
      done = new Map();
      const running = await startProfile({ everyMs: 0.5, carrier });
      await busyAcrossAwaits(cpuMs, async () => {
        using label = new DynamicLabel('query', 'mine');
        const other = new DynamicLabel('query', 'other').run(async () => {
          await undefined;
          work('other', jitter(200));
        });
        await Promise.all([way(label, () => work('mine', jitter(200))), other]);
      });
      return running.stop();
    });
    expectShares(profile, 'query', done);
  });
});
