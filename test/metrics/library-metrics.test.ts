// What instrumentations measure by: that it stays true where nothing is traced.
import { expect, test, vi } from 'vitest';
import { checkDrift } from '../../src/clock/index.js';
import { LibraryMetrics } from '../../src/metrics/library-metrics.js';
import { Instruments } from '../../src/metrics/reader.js';

vi.mock('../../src/clock/index.js', async (original) => ({
  ...(await original<typeof import('../../src/clock/index.js')>()),
  checkDrift: vi.fn(),
}));

test('each reading watches how long a tick of the clock is', () => {
  const instruments = new Instruments();
  new LibraryMetrics(instruments);
  expect(checkDrift).not.toHaveBeenCalled();
  instruments.read();
  expect(checkDrift).toHaveBeenCalledTimes(1);
});
