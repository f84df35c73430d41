// In random trees, on every clock source no child is outside its parent, no duration is negative, and times have
// real nanosecond digits; also when the counters of the cores are pretended to be far apart.
import { cpus } from 'node:os';
import { expect, test } from 'vitest';
import { clockInfo } from '../../src/index.js';
import { resultOf, runChild } from '../support/child.js';
import { samples } from '../support/samples.js';

// Of 15,000 spans and more, the chance that ten of the thousand last digits do not come is below 1e-30.
const TREES = samples(5000, 15_000, 400_000);
const hasAddon = clockInfo().path !== 'js';
const OFFSETS = cpus()
  .map((_, cpu) => `${cpu}:${cpu % 2 === 0 ? cpu * 1000 : -5_000_000_000}`)
  .join(',');

test.each([
  ['tsc', {}],
  ['tsc-percpu', {}],
  ['tsc-percpu', { SPANLINE_CLOCK_TEST_OFFSETS: OFFSETS }],
  ['monotonic', {}],
  ['js', {}],
])('%s %o', async (clock, env) => {
  if (!hasAddon && clock !== 'js') return console.log(`not run: no addon here for the source ${clock}`);
  const child = await runChild('random-trees', { args: [String(TREES)], env: { ...env, SPANLINE_CLOCK: clock } });
  const result = resultOf(child);
  expect(result).toMatchObject({ trees: TREES, outside: 0, negative: 0, orphans: 0, eventsOutside: 0 });
  expect(result.spans).toBeGreaterThan(3 * TREES);
  // Of 1000 possible values of the last three digits; a clock of microseconds would have one.
  expect(result.digits).toBeGreaterThan(990);
  if (clock === 'js') expect(result.path).toBe('js');
  // A CPU without what a source needs falls back to another, never to a wrong time.
  else if (result.source !== clock)
    console.log(`${clock} is not possible on this machine; ${result.source} was tested`);
});
