// What every question costs in reads and bytes: one read for a look-up, one for many, none for what is cached or denied by the filter,
// and no byte twice for all keys.
import { beforeAll, describe, expect, test } from 'vitest';
import { buildDictionary, type Opened, openDictionary } from './support/build.js';
import { hashKeys, nearOrdinals, permutation, seeded, spanKeys } from './support/random-keys.js';

/** What `call` costs. */
const cost = <T>(
  { transport }: Opened,
  call: () => T,
): { requests: number; ranges: number; bytes: number; result: T } => {
  const before = transport.stats();
  const result = call();
  const after = transport.stats();
  return {
    requests: after.requests - before.requests,
    ranges: after.ranges - before.ranges,
    bytes: after.bytes - before.bytes,
    result,
  };
};

describe('20,000 hashes', () => {
  const keys = hashKeys(20_000);
  let bytes: Buffer;
  let blockBytes = 0;

  beforeAll(() => {
    const ordinals = permutation(keys.length, seeded(13));
    const built = buildDictionary(keys, { filter: true }, (rank) => [ordinals[rank]]);
    bytes = built.bytes;
    blockBytes = built.stats.blockBytes;
  });

  test('opening takes the tail and nothing else', () => {
    expect(openDictionary(bytes).transport.stats()).toMatchObject({ requests: 1 });
    // The filter lies in the tail as well.
    expect(openDictionary(bytes, { filter: true }).transport.stats()).toMatchObject({ requests: 1 });
  });

  test('a look-up is one read of one block, then none', () => {
    const opened = openDictionary(bytes);
    const cold = cost(opened, () => opened.dictionary.lookupSync(keys[777]));
    expect(cold).toMatchObject({ requests: 1, ranges: 1, result: { rank: 777 } });
    expect(cold.bytes).toBeLessThan(3000);
    expect(cost(opened, () => opened.dictionary.lookupSync(keys[778])).requests).toBe(0);
    expect(cost(opened, () => opened.dictionary.keyAtSync(779)).requests).toBe(0);
  });

  test('a miss is one read without the filter and none with it', () => {
    const strangers = hashKeys(300, 20, seeded(14));
    const without = openDictionary(bytes);
    expect(cost(without, () => without.dictionary.lookupSync(strangers[0]))).toMatchObject({
      requests: 1,
      result: undefined,
    });
    const opened = openDictionary(bytes, { filter: true });
    const misses = cost(opened, () => strangers.map((key) => opened.dictionary.lookupSync(key)));
    expect(misses.result.every((entry) => entry === undefined)).toBe(true);
    expect(misses.requests).toBeLessThan(8);
  });

  test('the filter can come later, in one read', async () => {
    const opened = openDictionary(bytes, { tailBytes: 1024 });
    expect(opened.dictionary.mayHave(Buffer.from('no'))).toBe(true);
    const before = opened.transport.stats().requests;
    expect(await opened.dictionary.loadFilter()).toBe(true);
    expect(await opened.dictionary.loadFilter()).toBe(true);
    expect(opened.transport.stats().requests - before).toBe(1);
    expect(opened.dictionary.mayHave(keys[5])).toBe(true);
  });

  test('many keys are one batch, each block once', async () => {
    const opened = openDictionary(bytes, { tailBytes: 1024, gapBytes: 0 });
    const asked = [keys[19_000], keys[5], keys[10_000], keys[6], keys[10_001], keys[5]];
    const many = cost(opened, () => opened.dictionary.lookupManySync(asked));
    expect(many.result.map((entry) => entry?.rank)).toEqual([19_000, 5, 10_000, 6, 10_001, 5]);
    expect(many.ranges).toBe(3);
    expect(cost(opened, () => opened.dictionary.lookupManySync(asked)).requests).toBe(0);
  });

  test('all of them by look-up read no byte twice', () => {
    const opened = openDictionary(bytes, { tailBytes: 1024, cacheBytes: 0 });
    const all = cost(opened, () => opened.dictionary.lookupManySync(keys));
    expect(all.result.every((entry, i) => entry?.rank === i)).toBe(true);
    expect(all.bytes).toBeLessThanOrEqual(blockBytes);
    expect(all.requests).toBe(1);
  });

  test('all keys read no byte twice', () => {
    const opened = openDictionary(bytes, { tailBytes: 1024, cacheBytes: 0 });
    const all = cost(opened, () => opened.dictionary.allKeysSync());
    expect(all.requests).toBe(1);
    expect(all.bytes).toBeLessThanOrEqual(blockBytes);
    const byRank = cost(opened, () => opened.dictionary.keysAtSync(permutation(keys.length, seeded(15))));
    expect(byRank.requests).toBe(1);
    expect(byRank.bytes).toBeLessThanOrEqual(blockBytes);
  });

  test('a walk over all entries grows its reads, one that ends early reads little', () => {
    const opened = openDictionary(bytes, { tailBytes: 1024 });
    const walk = cost(opened, () => [...opened.dictionary.rangeSync()].flat().length);
    expect(walk.result).toBe(20_000);
    expect(walk.requests).toBeLessThanOrEqual(4);
    expect(walk.bytes).toBeLessThanOrEqual(blockBytes);
    const early = cost(opened, () => opened.dictionary.rangeSync().next().value?.length);
    expect(early.result).toBe(128);
    expect(early.bytes).toBeLessThan(70_000);
  });
});

describe('spans of traces', () => {
  const keys = spanKeys(3000, 10);
  const ordinals = nearOrdinals(3000, 10);
  const { bytes } = buildDictionary(keys, { groupBytes: 16, filter: true }, (rank) => [ordinals[rank]]);

  test('a trace is one read, and another trace that is not there none', () => {
    const opened = openDictionary(bytes, { tailBytes: 32_768, filter: true });
    const prefix = keys[7770].subarray(0, 16);
    const found = cost(opened, () => [...opened.dictionary.rangeSync({ prefix })].flat());
    expect(found.requests).toBe(1);
    expect(found.result.map(({ rank }) => rank)).toEqual(Array.from({ length: 10 }, (_, i) => 7770 + i));
    const strangers = hashKeys(100, 16, seeded(16));
    const missed = cost(opened, () =>
      strangers.flatMap((trace) => [...opened.dictionary.rangeSync({ prefix: trace })]),
    );
    expect(missed.result).toEqual([]);
    expect(missed.requests).toBeLessThan(6);
  });

  test('a thousand traces are one batch', () => {
    const opened = openDictionary(bytes, { tailBytes: 32_768, filter: true });
    const traces = permutation(3000, seeded(17)).slice(0, 1000);
    const found = cost(opened, () =>
      opened.dictionary.lookupPrefixesSync(traces.map((i) => keys[i * 10].subarray(0, 16))),
    );
    expect(found.result.map((entries) => entries.map(({ rank }) => rank))).toEqual(
      traces.map((i) => Array.from({ length: 10 }, (_, n) => i * 10 + n)),
    );
    expect(found.requests).toBe(1);
  });
});
