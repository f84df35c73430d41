// A union gives every id of its inputs once and in order, whatever the batches and however it is moved; when it is over or fails no
// input stays open.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BATCH_IDS, Union } from '../../src/query/id-node.js';
import { batchesOf, drain, SourceNode, sorted } from './support/source-node.js';

const id = (n: number): string => `,0=${n},`;
const numbered = (count: number, step = 1): string[] => Array.from({ length: count }, (_, i) => id(i * step));
const anyIds = fc.uniqueArray(fc.nat(60), { maxLength: 40 }).map((numbers) => numbers.map(id));
const anyBatches = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });
const anySources = fc
  .array(fc.tuple(anyIds, anyBatches, fc.boolean()), { maxLength: 12 })
  .map((inputs) => inputs.map(([ids, batches, isSlow]) => new SourceNode(ids, { batches, isSlow })));
const closed = (sources: readonly SourceNode[]): void => {
  for (const source of sources) expect(source).toMatchObject({ isClosed: true, misuse: undefined });
};

describe('a union', () => {
  test('is the union of sets', async () => {
    await fc.assert(
      fc.asyncProperty(anySources, async (sources) => {
        const union = new Union(sources, undefined);
        const expected = sorted(sources.flatMap(({ ids }) => ids));
        expect(await drain(union)).toEqual(expected);
        expect(await union.next()).toBeUndefined();
        closed(sources);
        expect(union.figures).toMatchObject({
          idsIn: sources.reduce((sum, { ids }) => sum + ids.length, 0),
          idsOut: expected.length,
        });
      }),
      { numRuns: samples(100, 300, 3000) },
    );
  });

  // The first id of a batch is one that nobody got before, so that the union has given all below it.
  test('goes on after skips and pauses with the first id that is wanted', async () => {
    const anyMoves = fc.array(fc.oneof(fc.nat(70), fc.constant('next' as const), fc.constant('pause' as const)), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(fc.tuple(anySources, anyMoves), async ([sources, moves]) => {
        const union = new Union(sources, undefined);
        let expected = sorted(sources.flatMap(({ ids }) => ids));
        for (const move of moves) {
          if (move === 'pause') {
            await union.pause();
            for (const source of sources) expect(source.isOpen).toBe(false);
          } else if (move === 'next') {
            const batch = await union.next();
            expect(batch).toEqual(expected.length === 0 ? undefined : expected.slice(0, BATCH_IDS));
            expected = expected.slice(batch?.length ?? 0);
          } else {
            await union.skipTo(id(move));
            expected = expected.filter((one) => one >= id(move));
          }
        }
        expect(await drain(union)).toEqual(expected);
        closed(sources);
      }),
      { numRuns: samples(100, 300, 3000) },
    );
  });

  test('goes on in the middle of its batches too', async () => {
    const anyIdsOfMany = fc.uniqueArray(fc.nat(4000), { minLength: 300, maxLength: 1500 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyIdsOfMany, { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(5000), { maxLength: 6 }),
        async (sets, skips) => {
          const sources = sets.map((set) => new SourceNode(set.map(id), { batches: [100, 7] }));
          const union = new Union(sources, undefined);
          let expected = sorted(sources.flatMap(({ ids }) => ids));
          for (const skip of skips.map(id)) {
            await union.skipTo(skip);
            expected = expected.filter((one) => one >= skip);
            const batch = await union.next();
            expect(batch ?? []).toEqual(expected.slice(0, BATCH_IDS));
            expected = expected.slice(BATCH_IDS);
          }
          expect(await drain(union)).toEqual(expected);
          closed(sources);
        },
      ),
      { numRuns: samples(10, 40, 400) },
    );
  });

  test('of two thousand inputs comes in full batches', async () => {
    const sources = Array.from({ length: 2000 }, (_, i) => new SourceNode([id(i), id(i + 1), id(2 * i)]));
    const batches = await batchesOf(new Union(sources, undefined));
    expect(batches.flat()).toEqual(sorted(sources.flatMap(({ ids }) => ids)));
    expect(batches.slice(0, -1).every(({ length }) => length === BATCH_IDS)).toBe(true);
  });

  test('holds one batch of each input and no more', async () => {
    const sources = [1, 2, 3].map((step) => new SourceNode(numbered(5000, step), { batches: [100] }));
    const union = new Union(sources, undefined);
    for (let batch = await union.next(); batch !== undefined; batch = await union.next()) {
      const last = batch.at(-1) as string;
      for (const { ids, givenIds } of sources) {
        const passed = ids.findLastIndex((one) => one <= last) + 1;
        expect(givenIds - passed).toBeLessThanOrEqual(100);
      }
    }
    closed(sources);
  });

  test.each([0, 1, 4])('that fails at batch %i of an input rejects, and closing it closes all', async (failsAt) => {
    const ids = numbered(30);
    const sources = [new SourceNode(ids), new SourceNode(ids, { failsAt }), new SourceNode(ids, { isSlow: true })];
    const union = new Union(sources, undefined);
    await expect(drain(union)).rejects.toThrow('source failed');
    await union.close();
    await union.close();
    expect(sources.map(({ closes }) => closes > 0)).toEqual([true, true, true]);
  });

  test('that is closed early closes all', async () => {
    const sources = [new SourceNode([id(1)]), new SourceNode(numbered(3000))];
    const union = new Union(sources, undefined);
    await union.next();
    await union.close();
    closed(sources);
  });
});
