// Figures of the last minute are those of all requests that ended in it.
import { describe, expect, test } from 'vitest';
import type { Request } from '../../archive/src/arrivals.js';
import { percentile } from '../src/api/groups/groups-routes.js';
import { MAX_OPERATIONS, MinuteCounts } from '../src/api/live/live-feed.js';

const NOW_S = 1_800_000_000;
const NOW_MS = NOW_S * 1000 + 400;

/** A request that ended so long before the last whole second. */
const request = (i: number, endedMsAgo: number, durationUs: number, more: Partial<Request> = {}): Request => {
  const endUnixNs = BigInt(NOW_S * 1000 - endedMsAgo) * 1_000_000n;
  const ids = { traceId: i.toString(16).padStart(32, '0'), name: i % 3 === 0 ? 'GET /a' : 'GET /b', service: 'shop' };
  return {
    ...ids,
    startUnixNs: endUnixNs - BigInt(durationUs) * 1000n,
    endUnixNs,
    isFailed: false,
    isRoot: true,
    ...more,
  };
};

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

describe('figures of the last minute', () => {
  test('are those of all requests that ended in it, at thousands a second', () => {
    const counts = new MinuteCounts();
    const durations: Record<string, number[]> = { 'GET /a': [], 'GET /b': [] };
    const perSecond = new Array<number>(60).fill(0);
    const rounds = 120_000;
    for (let i = 0; i < rounds; i++) {
      // From a microsecond to some seconds, in no order of time.
      const durationUs = Math.ceil(Math.exp(((i * 7919) % 15_000) / 1000));
      const endedMsAgo = 1 + ((i * 6151) % 60_000);
      const one = request(i, endedMsAgo, durationUs, { isFailed: i % 10 === 0, isRoot: i % 2 === 0 });
      counts.add(one, NOW_MS);
      durations[one.name].push(durationUs);
      perSecond[Math.floor((60_000 - endedMsAgo) / 1000)]++;
    }
    for (const ago of [60_001, 70_000, -5000, 0, -399])
      counts.add(request(rounds, ago, 1e9, { name: 'GET /not' }), NOW_MS);
    const minute = counts.minute(NOW_MS);
    expect(minute.ended).toEqual(perSecond);
    expect(sumOf(minute.failed)).toBe(rounds / 10);
    expect(minute.traces).toBe(rounds / 2);
    expect(minute.operations.map(({ name, count, errors }) => [name, count, errors])).toEqual([
      ['GET /b', 80_000, 8000],
      ['GET /a', 40_000, 4000],
    ]);
    for (const { name, p50Us, p95Us, p99Us } of minute.operations) {
      const ascending = durations[name].sort((a, b) => a - b);
      for (const [share, value] of [
        [0.5, p50Us],
        [0.95, p95Us],
        [0.99, p99Us],
      ])
        expect(Math.abs(value / percentile(ascending, share) - 1)).toBeLessThanOrEqual(0.01 + 1e-9);
    }
  });

  test('go on: what is older than a minute is forgotten, and few durations are told as well as many', () => {
    const counts = new MinuteCounts();
    counts.add(request(1, 59_000, 40), NOW_MS);
    counts.add(request(2, 500, 7_000_000, { isFailed: true }), NOW_MS);
    expect(counts.minute(NOW_MS).operations).toHaveLength(1);
    expect(sumOf(counts.minute(NOW_MS).ended)).toBe(2);
    const later = counts.minute(NOW_MS + 5000);
    expect([sumOf(later.ended), sumOf(later.failed)]).toEqual([1, 1]);
    expect(Math.abs(later.operations[0].p50Us / 7_000_000 - 1)).toBeLessThan(0.01);
    expect(counts.minute(NOW_MS + 61_000)).toMatchObject({ traces: 0, operations: [], newest: [], slowest: [] });
  });

  test('the newest and the slowest are traces, each once, by its longest request', () => {
    const counts = new MinuteCounts();
    for (let i = 0; i < 1000; i++) {
      counts.add(request(i, 1 + i * 59, 1000 + ((i * 37) % 1000)), NOW_MS);
      // What it asked of another service.
      counts.add(request(i, 2 + i * 59, 500, { service: 'stock', isRoot: false }), NOW_MS);
    }
    const { newest, slowest } = counts.minute(NOW_MS);
    expect(newest.map(({ traceId, service }) => [Number(`0x${traceId}`), service])).toEqual(
      Array.from({ length: 10 }, (_, i) => [i, 'shop']),
    );
    expect(slowest.map(({ durationUs }) => durationUs)).toEqual(Array.from({ length: 10 }, (_, i) => 1999 - i));
  });

  test('operations beyond a hundred are counted together until one has had no request for a minute', () => {
    const counts = new MinuteCounts();
    for (let i = 0; i < MAX_OPERATIONS + 5; i++) counts.add(request(i, 30_000, 1, { name: `GET /${i}` }), NOW_MS);
    const minute = counts.minute(NOW_MS);
    expect([minute.operations.length, minute.further, sumOf(minute.ended)]).toEqual([MAX_OPERATIONS, 5, 105]);
    const laterMs = NOW_MS + 60_000;
    counts.add(request(7, -59_000, 1, { name: 'GET /new' }), laterMs);
    expect(counts.minute(laterMs)).toMatchObject({ operations: [{ name: 'GET /new' }], further: 0 });
  });

  test('a rate is of the seconds that were counted', () => {
    const counts = new MinuteCounts();
    for (let i = 0; i < 60; i++) counts.add(request(i, 1 + i * 1000, 1), NOW_MS);
    expect(counts.minute(NOW_MS, NOW_MS - 20_000).ended).toEqual(new Array(19).fill(1));
    expect(counts.minute(NOW_MS, NOW_MS).ended).toHaveLength(1);
  });
});
