// A plan of reads covers every byte that was asked for, fetches none twice, and joins what lies close.

import { describe, expect, test } from 'vitest';
import fc from '../../../../../test/support/fast-check.js';
import { dealOut, emptyResults, mergeRanges } from '../../../src/container/transport/transport.js';

const FILE = Buffer.from(Array.from({ length: 5_000 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

const ranges = fc.array(fc.record({ offset: fc.nat(4_000), length: fc.oneof(fc.nat(40), fc.nat(1_000)) }), {
  maxLength: 30,
});

describe('mergeRanges', () => {
  test('covers what was asked for, in order, without fetching a byte twice', () => {
    fc.assert(
      fc.property(ranges, fc.nat(300), fc.integer({ min: 1, max: 2_000 }), (asked, gap, maxBytes) => {
        const merged = mergeRanges(asked, gap, maxBytes);
        for (let i = 1; i < merged.length; i++) {
          const before = merged[i - 1];
          expect(merged[i].offset).toBeGreaterThanOrEqual(before.offset + before.length);
        }
        const members = merged.flatMap((one) => one.members);
        const wanted = asked.flatMap(({ length }, i) => (length > 0 ? [i] : []));
        expect(members.toSorted((a, b) => a - b)).toEqual(wanted);
        const results = emptyResults(asked);
        for (const one of merged) dealOut(asked, one, FILE.subarray(one.offset, one.offset + one.length), results);
        asked.forEach(({ offset, length }, i) => {
          expect(results[i].equals(FILE.subarray(offset, offset + length))).toBe(true);
        });
      }),
    );
  });

  test('joins at the gap and not beyond it', () => {
    const asked = [
      { offset: 0, length: 10 },
      { offset: 15, length: 10 },
      { offset: 31, length: 10 },
    ];
    expect(mergeRanges(asked, 5)).toEqual([
      { offset: 0, length: 25, members: [0, 1] },
      { offset: 31, length: 10, members: [2] },
    ]);
    expect(mergeRanges(asked, 6)).toEqual([{ offset: 0, length: 41, members: [0, 1, 2] }]);
  });

  test('stops joining at the bound of one read, but never for overlaps', () => {
    const neighbours = [0, 10, 20].map((offset) => ({ offset, length: 10 }));
    expect(mergeRanges(neighbours, 0, 20).map(({ length }) => length)).toEqual([20, 10]);
    const overlaps = [0, 5, 10].map((offset) => ({ offset, length: 10 }));
    expect(mergeRanges(overlaps, 0, 12).map(({ length }) => length)).toEqual([20]);
  });

  test('needs no read for nothing', () => {
    expect(mergeRanges([{ offset: 7, length: 0 }], 100)).toEqual([]);
    expect(mergeRanges([], 100)).toEqual([]);
  });
});
