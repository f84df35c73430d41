// `npm test` in a package runs tests of that package alone, whatever it is given.
import { expect, test } from 'vitest';
import { filtersOf } from '../../scripts/lib/test-filters.mjs';

test.each([
  [[], []],
  [
    ['test/clock', '-t', 'ticks'],
    ['test/clock', '-t', 'ticks'],
  ],
  [['packages/graph'], ['packages/graph/']],
  [
    ['packages/graph', '-t', 'reads'],
    ['packages/graph/', '-t', 'reads'],
  ],
  [['packages/graph', 'test/container'], ['packages/graph/test/container']],
  [
    ['packages/graph', '--coverage', 'test/container'],
    ['--coverage', 'packages/graph/test/container'],
  ],
  [['packages/graph', 'test/none.test.ts'], ['packages/graph/test/none.test.ts']],
  [['packages/graph/test/container'], ['packages/graph/test/container']],
])('%j', (args, expected) => {
  expect(filtersOf(args)).toEqual(expected);
});
