// With a continuous profiler on, work that no span covers has its hottest stacks, not only one stack a part.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { loadFastCall } from '../../../src/clock/binding.js';
import type { Division, TimelineStats } from '../../../src/flight-recorder/index.js';
import { bundleChild, runFile } from '../../support/child.js';

interface Result {
  readonly division: Division;
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

  const usIn = ({ untracedFrames }: Division, name: string): number =>
    untracedFrames
      .filter(({ frames }) => frames.some((frame) => frame.startsWith(`${name} `)))
      .reduce((sum, { us }) => sum + us, 0);

  test('names each function of a long part with its share of the time', async () => {
    const { division, stats } = await look();
    const [read, print] = [usIn(division, 'readPrices'), usIn(division, 'printLabels')];
    const text = JSON.stringify(division);
    // The job reads for 60 % of its work; of its time that may be less, where others have the processors.
    expect(read / division.untracedUs, text).toBeGreaterThan(0.2);
    expect(print / division.untracedUs, text).toBeGreaterThan(0.2);
    expect((read + print) / division.untracedUs, text).toBeGreaterThan(0.8);
    expect(read + print, text).toBeLessThanOrEqual(division.untracedUs + 1);
    expect(stats.stacksDropped).toBe(0);
    const { durationUs, ownUs, gcUs, othersUs, untracedUs, shortUs, waitingUs, unknownUs } = division;
    expect(ownUs + gcUs + othersUs + untracedUs + shortUs + waitingUs + unknownUs).toBeCloseTo(durationUs, 3);
  });
});
