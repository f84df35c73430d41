// A fuse filter of any number of hashes has them all; equal hashes have no filter, which is said and not papered over.
import { expect, test } from 'vitest';
import { buildFuse, mayContain, slotsOf } from '../../src/dictionary/fuse-filter.js';
import { below, seeded } from './support/random-keys.js';

const hashesOf = (count: number, seed: number): Uint32Array => {
  const random = seeded(seed);
  return Uint32Array.from({ length: count * 2 }, () => below(random, 2 ** 32));
};

test('every number of hashes up to 400, in the middle of others', () => {
  for (let count = 0; count <= 400; count++) {
    const hashes = hashesOf(count + 4, count);
    const fuse = buildFuse(hashes, 2, 2 + count);
    if (fuse === undefined) throw new Error(`no filter of ${count}`);
    expect(fuse.prints.length).toBe(slotsOf(fuse.shape));
    // Where it begins among other bytes.
    const prints = Buffer.concat([Buffer.alloc(3, 0xaa), fuse.prints]);
    const missed: number[] = [];
    for (let i = 2; i < 2 + count; i++)
      if (!mayContain(fuse.shape, prints, 3, hashes[2 * i], hashes[2 * i + 1])) missed.push(i);
    expect(missed, `${count}`).toEqual([]);
  }
});

test('equal hashes', () => {
  const hashes = hashesOf(100, 1);
  hashes.copyWithin(50, 0, 2);
  expect(buildFuse(hashes, 0, 100)).toBeUndefined();
});
