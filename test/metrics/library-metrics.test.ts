// What instrumentations measure by: that it stays true where nothing is traced, and small whatever is measured.
import { expect, test, vi } from 'vitest';
import { checkDrift } from '../../src/clock/index.js';
import { Histogram } from '../../src/metrics/instruments.js';
import { LibraryMetrics } from '../../src/metrics/library-metrics.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { samples } from '../support/samples.js';

vi.mock('../../src/clock/index.js', async (original) => ({
  ...(await original<typeof import('../../src/clock/index.js')>()),
  checkDrift: vi.fn(),
}));

test('each reading watches how long a tick of the clock is', () => {
  const instruments = new Instruments();
  // Other tests read too.
  vi.mocked(checkDrift).mockClear();
  new LibraryMetrics(instruments);
  expect(checkDrift).not.toHaveBeenCalled();
  instruments.read();
  expect(checkDrift).toHaveBeenCalledTimes(1);
});

/** Bytes that are in use, once the rest was collected. */
const used = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

/** Of the nightly suite a million. */
const USERS = samples(50_000, 200_000, 1_000_000);

test('routes and queries of as many users: memory stays as it is, and none is missing from the sums', () => {
  const instruments = new Instruments();
  const library = new LibraryMetrics(instruments);
  const ask = (from: number, to: number): void => {
    for (let user = from; user < to; user++) {
      const request = library.serverBegan('GET', 'http');
      const outcome = { status: 200, errorType: undefined, version: '1.1' };
      library.serverEnded(request, `/users/${user}/of/a/framework/that/names/routes/so`, outcome);
      const call = { system: 'postgresql', namespace: 'shop', operation: 'SELECT', collection: `users_${user}` };
      const rest = { summary: `SELECT users_${user}`, address: 'db', port: 5432 };
      const answer = { status: undefined, errorType: undefined };
      library.databaseEnded(library.begin(), { ...call, ...rest }, answer, undefined, 0.001);
    }
  };
  ask(0, USERS / 10);
  const before = used();
  ask(USERS / 10, USERS);
  // Each has a name of 100 bytes and more; none of them is here.
  expect(used() - before).toBeLessThan(2e6);
  const metrics = new Reader(instruments, 'cumulative').read();
  const counts = metrics.flatMap(({ instrument, points }) => {
    if (!(instrument instanceof Histogram)) return [];
    const all = [...points].map(({ buckets }) => buckets?.reduce((sum, one) => sum + one, 0) ?? 0);
    return [[instrument.name, instrument.sets.overflows, all.length, all[0], all.reduce((sum, one) => sum + one, 0)]];
  });
  const each = [USERS - 1999, 2000, USERS - 1999, USERS];
  expect(counts).toEqual([
    ['http.server.request.duration', ...each],
    ['db.client.operation.duration', ...each],
  ]);
});
