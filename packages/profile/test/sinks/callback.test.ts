// A callback is a sink with counters; its failures are the profiler's to know.
import { expect, test } from 'vitest';
import { callbackSink } from '../../src/sinks/profile-sink.js';
import { shop } from '../support/sampled.js';

test('counts what was taken and what failed, and passes the failure on', async () => {
  const seen: number[] = [];
  const sink = callbackSink((profile) => {
    seen.push(profile.counts.total);
    if (seen.length === 2) throw new Error('full');
  });
  await sink(shop());
  await expect(sink(shop())).rejects.toThrow('full');
  const later = callbackSink(() => Promise.reject(new Error('later')));
  await expect(later(shop())).rejects.toThrow('later');
  expect(later.stats()).toEqual({ profiles: 0, failures: 1 });
  await callbackSink(async () => undefined)(shop());
  expect(seen).toEqual([1300, 1300]);
  expect(sink.stats()).toEqual({ profiles: 1, failures: 1 });
});
