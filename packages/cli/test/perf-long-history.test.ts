// `spanline perf regressions` judges a history of any length: no bound that only the library's options could raise.
import { expect, test } from 'vitest';
import { detect } from '../src/perf/regressions-command.js';

test('a series of 10,779 commits, and one longer than the default bound of the library', async () => {
  for (const length of [10_779, 100_001]) {
    const history = {
      key: ',test=parse,unit=ms,',
      params: { test: 'parse', unit: 'ms' },
      commits: Array.from({ length }, (_, number) => ({ number, hash: `c${number}`, timestampMs: number })),
      values: Array.from({ length }, (_, i) => (i < 7000 ? 100 : 130) + (i % 7)),
    };
    const found = await detect({ detector: 'e-divisive' }, [history], {});
    expect(found).toMatchObject([{ kind: 'regression', commit: { number: 7000 } }]);
  }
});
