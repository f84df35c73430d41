// The output of spanline's own benchmarks: figures become points of series that tell subject, case, statistic, Node and machine
// apart, at a commit that the file or the caller names.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commitsOf, pointLines } from './support/ingest-files.js';

// What a run printed, cut down to four results.
const OUTPUT = JSON.parse(readFileSync(new URL('fixtures/spanline-bench.json', import.meta.url), 'utf8'));

describe("the output of spanline's benchmarks", () => {
  it('gives minimum, median and total of each result', async () => {
    const [commit, ...others] = await commitsOf(OUTPUT, { commit: 'c1', measuredMs: 5 });
    expect(others).toEqual([]);
    expect(commit).toMatchObject({ commit: 'c1', measuredMs: 5, source: 'results.json#recording' });
    const { min, median, totalMedian } = OUTPUT.results[1];
    const series = (stat: string) =>
      `cores=2,cpu=AMD_EPYC,n=1,node=20,platform=linux-x64,stat=${stat},subject=opentelemetry_2.12.1,suite=recording,test=local-span,unit=ns`;
    expect(pointLines(commit).slice(3, 6)).toEqual([
      `${series('min')} = ${min}`,
      `${series('median')} = ${median}`,
      `${series('total_median')} = ${totalMedian}`,
    ]);
    // The last result has no total.
    expect(commit.points).toHaveLength(4 * 3 - 1);
  });

  it('needs a commit', async () => {
    await expect(commitsOf(OUTPUT)).rejects.toThrow(
      'results.json: does not say which commit it measured; give it (--commit)',
    );
    const [commit] = await commitsOf({ ...OUTPUT, commit: 'c2', date: 7 });
    expect(commit).toMatchObject({ commit: 'c2', measuredMs: 7 });
    await expect(commitsOf({ ...OUTPUT, commit: 'c2' }, { commit: 'c1' })).rejects.toThrow('/commit is "c2", but');
    await expect(commitsOf(OUTPUT, { commit: 'a b' })).rejects.toThrow('must be the id of a commit');
  });

  it.each<[string, object, string]>([
    ['no machine', { machine: undefined }, 'lacks the property "machine"'],
    ['a figure that is a text', { results: [{ ...OUTPUT.results[0], min: '1' }] }, '/results/0/min must be'],
    ['no unit', { results: [{ ...OUTPUT.results[0], unit: undefined }] }, '/results/0 lacks the property "unit"'],
    ['n that is a list', { results: [{ ...OUTPUT.results[0], n: [1] }] }, '/results/0/n must be'],
    ['a time that is none', { date: 1.5 }, '/date must be integer, got 1.5'],
  ])('is refused with %s', async (_what, change, reason) => {
    await expect(commitsOf({ ...OUTPUT, ...change }, { commit: 'c1' })).rejects.toThrow(`results.json: ${reason}`);
  });
});
