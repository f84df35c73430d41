// Shares come out as they are: 2, 4 and 64 labels in known proportions, in synchronous and asynchronous work, within what chance does to so
// many samples.
import { describe, test } from 'vitest';
import { sampleOf, samples } from '../../../test/support/samples.js';
import { DynamicLabel, startProfile } from '../src/index.js';
import { busyAcrossAwaits, busyWork, expectShares, jitter, withSamples } from './support/busy-work.js';
import { carriers } from './support/carriers.js';

/** In 1000 samples a share of a half is found that is wrong by 0.15, in 20,000 one that is wrong by 0.033. */
const MIN = samples(1000, 1000, 20_000);
/** Few, and more than a carrier keeps at hand. Four are found wrong by nothing that two would not show, so they come at night. */
const LABELS = sampleOf([2, 64, 4], 2, 2);
const PIECES = 20;

type Work = (label: DynamicLabel, units: number) => Promise<void>;

const WORK: Readonly<Record<string, Work>> = {
  synchronous: (label, units) => {
    label.apply(() => busyWork(units));
    return Promise.resolve();
  },
  asynchronous: (label, units) =>
    label.run(async () => {
      busyWork(units / 2);
      await undefined;
      busyWork(units / 2);
    }),
};

const workIn = async (labels: readonly DynamicLabel[], work: Work, cpuMs: number): Promise<Map<string, number>> => {
  const done = new Map(labels.map((_, i) => [String(i), 0]));
  const sum = (labels.length * (labels.length + 1)) / 2;
  await busyAcrossAwaits(cpuMs, () => {
    const pieces = Array.from({ length: PIECES }, () => {
      // Label number i has i + 1 parts.
      const i = Math.floor((Math.sqrt(8 * Math.random() * sum + 1) - 1) / 2);
      const units = jitter(40);
      done.set(String(i), (done.get(String(i)) ?? 0) + units);
      return work(labels[i], units);
    });
    return Promise.all(pieces);
  });
  return done;
};

describe.each(carriers)('carrier %s', (carrier) => {
  test.each(LABELS.flatMap((n) => Object.keys(WORK).map((kind) => [n, kind] as const)))(
    '%i labels, %s',
    async (n, kind) => {
      let done = new Map<string, number>();
      const profile = await withSamples(MIN, async (cpuMs) => {
        const labels = Array.from({ length: n }, (_, i) => new DynamicLabel('i', i));
        const running = await startProfile({ everyMs: 0.5, carrier });
        done = await workIn(labels, WORK[kind], cpuMs);
        return running.stop();
      });
      expectShares(profile, 'i', done);
    },
  );
});
