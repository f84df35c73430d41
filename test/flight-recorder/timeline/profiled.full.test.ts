// With a continuous profiler on, work that no span covers has its hottest stacks, not only one stack a part.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import type { TimeBreakdown, TimelineStats } from '../../../src/flight-recorder/index.js';
import { bundleChild, runFile } from '../../support/child.js';

interface Result {
  readonly breakdown: TimeBreakdown;
  readonly stats: TimelineStats;
}

const hasAddon = loadFastCall().module?.timelineStart !== undefined;

describe.runIf(hasAddon)('untraced work', () => {
  let file: string;
  beforeAll(async () => {
    file = await bundleChild(fileURLToPath(new URL('./children/profiled.ts', import.meta.url)));
  });

  const look = async (): Promise<Result> => {
    const { code, stdout, stderr } = await runFile(file);
    expect([code, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as Result;
  };

  const usIn = ({ untracedFrames }: TimeBreakdown, name: string): number =>
    untracedFrames
      .filter(({ frames }) => frames.some((frame) => frame.startsWith(`${name} `)))
      .reduce((sum, { us }) => sum + us, 0);

  test('names each function of a long part with its share of the time', async () => {
    const { breakdown, stats } = await look();
    const [read, print] = [usIn(breakdown, 'readPrices'), usIn(breakdown, 'printLabels')];
    const text = JSON.stringify(breakdown);
    // The job reads for 60 % of its work; of its time that may be less, where others have the processors.
    expect(read / breakdown.untracedUs, text).toBeGreaterThan(0.2);
    expect(print / breakdown.untracedUs, text).toBeGreaterThan(0.2);
    expect((read + print) / breakdown.untracedUs, text).toBeGreaterThan(0.8);
    expect(read + print, text).toBeLessThanOrEqual(breakdown.untracedUs + 1);
    expect(stats.stacksDropped).toBe(0);
    const { durationUs, ownUs, gcUs, othersUs, untracedUs, shortUs, waitingUs, unknownUs } = breakdown;
    expect(ownUs + gcUs + othersUs + untracedUs + shortUs + waitingUs + unknownUs).toBeCloseTo(durationUs, 3);
  });
});
