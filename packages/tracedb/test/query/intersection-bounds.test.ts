// An intersection holds no more than two batches of each input, and reads on no further than a bound behind the end of any of them.
import { describe, expect, test } from 'vitest';
import { BATCH_IDS } from '../../src/query/id-node.js';
import { Intersection } from '../../src/query/intersection.js';
import { drain, SourceNode } from './support/source-node.js';

const id = (n: number): string => `,0=${String(n).padStart(6, '0')},`;
const numbered = (count: number, step: number): string[] => Array.from({ length: count }, (_, n) => id(n * step));

const inputOf = (ids: readonly string[]) => {
  const set = new Set(ids);
  return { node: new SourceNode(ids, { batches: [BATCH_IDS] }), test: (one: string) => set.has(one) };
};

describe('an intersection', () => {
  test('holds no more than two batches of an input', async () => {
    const first = inputOf(numbered(30_000, 1));
    const others = [inputOf(numbered(15_000, 2)), inputOf(numbered(300, 100))];
    const node = new Intersection([first, ...others], [], undefined);
    const all: string[] = [];
    for (let batch = await node.next(); batch !== undefined; batch = await node.next()) {
      all.push(...batch);
      const last = batch.at(-1) as string;
      for (const { node: source } of [first, ...others]) {
        const passed = source.ids.findLastIndex((one) => one <= last) + 1;
        expect(source.givenIds - passed).toBeLessThanOrEqual(2 * BATCH_IDS);
      }
    }
    expect(all).toEqual(numbered(300, 100));
  });

  test('ends soon behind the end of an input that is not read', async () => {
    // What is read goes on to the end of the tile; the other's ids end early, which no id tells.
    const inputs = [inputOf(numbered(200_000, 5)), inputOf(numbered(60_000, 1))] as const;
    expect(await drain(new Intersection(inputs, [], undefined))).toEqual(numbered(12_000, 5));
    // The answer is in 24 batches of 391.
    expect(inputs[0].node.given).toBeLessThan(24 + 8);
    expect(inputs.map(({ node }) => node.isClosed)).toEqual([true, true]);
  });
});
