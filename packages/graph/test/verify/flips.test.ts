// Checking a file looks at each of its bytes: whichever is changed, it is found.
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../../../../test/support/samples.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';
import { FILES, faultIn, isUndamaged } from './support/files.js';

/** Of the inside of large values only so many bytes are tried: one checksum covers all of it. */
const LARGE_STRIDE = 509;
const LARGE_FROM = 4096;
const LARGE_REST = 6144;

/** Verify makes the same checks; each of its runs writes a file. */
const VERIFY_STRIDE = 13;

const places = (length: number): number[] =>
  Array.from({ length }, (_, at) => at).filter(
    (at) => at < LARGE_FROM || at >= length - LARGE_REST || at % LARGE_STRIDE === 0,
  );

describe.each(Object.keys(FILES))('%s', (kind) => {
  const bytes = FILES[kind]();

  test('is undamaged as it was written', async () => {
    expect(await faultIn(kind, bytes)).toBeUndefined();
    expect(await isUndamaged(temporaryDirectory(), bytes)).toBe(true);
  });

  test('a change of any byte is found by checking it in memory', async () => {
    const missed: number[] = [];
    for (const at of sampleOf(places(bytes.length), 25, 400, 1000)) {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << (at % 8);
      if ((await faultIn(kind, damaged)) === undefined) missed.push(at);
    }
    expect(missed).toEqual([]);
  }, 120_000);

  test('a change of a byte is found by verify', async () => {
    const directory = temporaryDirectory();
    const missed: number[] = [];
    const all = places(bytes.length);
    for (const at of sampleOf(all, 5, 40, Math.ceil(all.length / VERIFY_STRIDE))) {
      const damaged = Buffer.from(bytes);
      damaged[at] ^= 1 << (at % 8);
      if (await isUndamaged(directory, damaged)) missed.push(at);
    }
    expect(missed).toEqual([]);
  }, 120_000);
});

test('the kinds are what they are called', () => {
  for (const [kind, make] of Object.entries(FILES)) expect(make().length > 65_536).toBe(kind.includes('more than 64'));
});
