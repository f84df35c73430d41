// An intersection gives exactly the ids that all conditions hold for, whichever of its inputs it reads; it reads little more than the
// rarest one has, and when it is over or fails no input stays open.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { Intersection, type IntersectionInput } from '../../src/query/intersection.js';
import { drain, SourceNode, type SourceOptions, sorted } from './support/source-node.js';

const id = (n: number): string => `,0=${String(n).padStart(6, '0')},`;

/** An input over a set. */
class Input implements IntersectionInput {
  readonly node: SourceNode;
  private readonly set: ReadonlySet<string>;

  constructor(ids: Iterable<string>, options?: SourceOptions) {
    const order = sorted(ids);
    this.set = new Set(order);
    this.node = new SourceNode(order, options);
  }

  readonly test = (one: string): boolean => this.set.has(one);
}

const intersect = (inputs: readonly Input[], checks: readonly ((one: string) => boolean)[] = []): Intersection =>
  new Intersection(inputs as [Input, ...Input[]], checks, undefined);

const common = (sets: readonly (readonly string[])[]): string[] => {
  const rest = sets.slice(1).map((ids) => new Set(ids));
  return sorted(sets[0] as readonly string[]).filter((one) => rest.every((set) => set.has(one)));
};

const closed = (inputs: readonly Input[]): void => {
  for (const { node } of inputs) expect(node).toMatchObject({ isClosed: true, misuse: undefined });
};

const range = (count: number, has: (n: number) => boolean = () => true): string[] =>
  Array.from({ length: count }, (_, n) => n)
    .filter(has)
    .map(id);

const anyIds = fc.uniqueArray(fc.nat(40), { maxLength: 40 }).map((numbers) => numbers.map(id));
const anyBatches = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 });

describe('an intersection', () => {
  test('is the intersection of sets, with checks too', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(anyIds, anyBatches, fc.boolean()), { minLength: 1, maxLength: 5 }),
        fc.array(fc.uniqueArray(fc.nat(40), { minLength: 20 }), { maxLength: 2 }),
        async (some, checked) => {
          const inputs = some.map(([ids, batches, isSlow]) => new Input(ids, { batches, isSlow }));
          const checks = checked.map((numbers) => new Set(numbers.map(id)));
          const node = intersect(
            inputs,
            checks.map((set) => (one: string) => set.has(one)),
          );
          const expected = common([...some.map(([ids]) => ids), ...checks.map((set) => [...set])]);
          expect(await drain(node)).toEqual(expected);
          expect(node.figures.idsOut).toBe(expected.length);
          closed(inputs);
        },
      ),
      { numRuns: samples(50, 200, 5000) },
    );
  });

  // Sets so large that it goes on with another input, often: shares from 1 in 1 to 1 in 4000, spread evenly, in stripes, or in one piece.
  test('of large sets is the same, whichever input it reads', async () => {
    const COUNT = 12_000;
    let skips = 0;
    let switched = 0;
    let found = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            share: fc.constantFrom(1, 1, 0.9, 0.5, 0.1, 0.01, 0.0003),
            seed: fc.nat(1000),
            batch: fc.constantFrom(1, 64, 500, 512, 4096),
            stripe: fc.constantFrom(COUNT, 150, 1000, 3000),
            begin: fc.constantFrom(0, 0, 0.5),
            end: fc.constantFrom(1, 1, 0.7, 0.4),
          }),
          { minLength: 2, maxLength: 4 },
        ),
        async (kinds) => {
          const sets = kinds.map(({ share, seed, begin, end, stripe }) =>
            range(COUNT, (n) => {
              if (n < COUNT * begin || n >= COUNT * end || Math.floor(n / stripe) % 2 === 1) return false;
              // Spread without a pattern that batches could fall in step with.
              return ((Math.imul(n + 1, 2654435761) ^ Math.imul(seed, 40503)) >>> 0) / 2 ** 32 < share;
            }),
          );
          const inputs = sets.map((ids, i) => new Input(ids, { batches: [(kinds[i] as { batch: number }).batch] }));
          const expected = common(sets);
          expect(await drain(intersect(inputs))).toEqual(expected);
          closed(inputs);
          found += expected.length;
          skips += inputs.reduce((sum, { node }) => sum + node.skips, 0);
          if (inputs.filter(({ node }) => node.given > 0).length > 1) switched++;
        },
      ),
      { numRuns: samples(10, 80, 2000) },
    );
    // Else it would prove nothing.
    expect(found).toBeGreaterThan(samples(0, 4000, 10_000));
    expect(skips).toBeGreaterThan(samples(0, 20, 50));
    expect(switched).toBeGreaterThan(samples(0, 20, 50));
  });

  test('does not give an id twice when it goes on with another input behind it', async () => {
    const dense = range(10_000);
    for (const step of [100, 128, 129, 500, 512]) {
      const rare = dense.filter((_, n) => n % step === step - 1);
      const inputs = [new Input(dense, { batches: [512] }), new Input(rare, { batches: [512] })];
      expect(await drain(intersect(inputs))).toEqual(rare);
      closed(inputs);
    }
  });

  test('reads about as many ids as its rarest input has, whichever comes first', async () => {
    const sets = [range(30_000), range(30_000, (n) => n % 2 === 0), range(30_000, (n) => n % 100 === 0)];
    for (const order of [
      [0, 1, 2],
      [1, 2, 0],
      [2, 1, 0],
    ]) {
      const inputs = order.map((i) => new Input(sets[i] as string[], { batches: [512] }));
      const node = intersect(inputs);
      expect(await drain(node)).toEqual(sets[2]);
      expect(node.figures.idsIn).toBeLessThan(300 + 7 * 512);
      closed(inputs);
    }
  });

  test('finds out about one that is rarer by a little', async () => {
    const sets = [range(100_000), range(100_000, (n) => n % 10 === 0)];
    const inputs = sets.map((ids) => new Input(ids, { batches: [512] }));
    const node = intersect(inputs);
    expect(await drain(node)).toEqual(sets[1]);
    expect(node.figures.idsIn).toBeLessThan(10_000 + 8 * 512);
    closed(inputs);
  });

  test('skips what one input lacks in one piece', async () => {
    // Both go on to the end of the tile; one has a hole in between.
    const dense = range(200_000, (n) => n < 20_000 || n > 190_000);
    const rare = range(200_000, (n) => n % 2 === 0);
    const inputs = [new Input(rare, { batches: [512] }), new Input(dense, { batches: [512] })];
    const node = intersect(inputs);
    expect(await drain(node)).toEqual(common([rare, dense]));
    expect(node.figures.idsIn).toBeLessThan(15_000 + 8 * 512);
    closed(inputs);
  });

  test('one side that is empty or ends closes the others, which are not read on', async () => {
    const long = range(50_000);
    for (const short of [[], [id(3)], [id(3), id(700)]]) {
      const inputs = [
        new Input(long, { batches: [10] }),
        new Input(short),
        new Input(long, { batches: [10], isSlow: true }),
      ];
      expect(await drain(intersect(inputs))).toEqual(short);
      closed(inputs);
      expect(inputs[0]?.node.given).toBeLessThan(75);
      expect(inputs[2]?.node.given).toBeLessThan(75);
    }
  });

  test.each([0, 1, 5, 9])('that fails at batch %i of an input rejects, and closing it closes all', async (failsAt) => {
    const dense = range(9000);
    for (const failing of [0, 1, 2]) {
      const inputs = [0, 1, 2].map(
        (i) => new Input(dense.slice(0, 9000 - i), { batches: [500], ...(i === failing ? { failsAt } : {}) }),
      );
      const node = intersect(inputs);
      const result = await drain(node).then(
        (ids) => ids,
        (error: Error) => error.message,
      );
      // An input that is not read cannot fail; then the answer is whole.
      expect(['source failed', dense.slice(0, 8998)]).toContainEqual(result);
      if (failing === 0) expect(result).toBe('source failed');
      await node.close();
      await node.close();
      expect(inputs.map(({ node: { isClosed } }) => isClosed)).toEqual([true, true, true]);
    }
  });

  test('that fails to skip rejects', async () => {
    const inputs = [
      new Input(range(10_000), { batches: [512] }),
      new Input(
        range(10_000, (n) => n > 9000),
        { batches: [512] },
      ),
    ];
    const [, late] = inputs as [Input, Input];
    late.node.skipTo = async () => {
      throw new Error('source failed to skip');
    };
    const node = intersect(inputs);
    await expect(drain(node)).rejects.toThrow('source failed to skip');
    await node.close();
    closed(inputs);
  });

  test('gives its first ids soon, then full batches', async () => {
    const inputs = [new Input(range(10_000), { batches: [512] })];
    const node = intersect(inputs);
    const sizes: number[] = [];
    for (let ids = await node.next(); ids !== undefined; ids = await node.next()) sizes.push(ids.length);
    expect(sizes.slice(0, 8)).toEqual([16, 32, 64, 128, 256, 512, 512, 512]);
    closed(inputs);
  });

  test('gives what it has when the next ids are far', async () => {
    const inputs = [new Input(range(100_000), { batches: [512] })];
    const node = intersect(inputs, [(one) => one <= id(3) || one > id(99_990)]);
    expect(await node.next()).toEqual(range(4));
    expect(node.figures.idsIn).toBeLessThan(10_000);
    expect(await node.next()).toEqual(range(100_000, (n) => n > 99_990));
    expect(await node.next()).toBeUndefined();
    closed(inputs);
  });

  test('that is closed while it is asked for ids leaves no input open', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const inputs = [0, 1].map(
        (side) =>
          new Input(
            range(10_000, (n) => Math.floor(n / 500) % 2 === side || n === 9999),
            { batches: [512], isSlow: true },
          ),
      );
      const node = intersect(inputs);
      const pending = node.next();
      for (let i = 0; i < turns; i++) await new Promise((resolve) => setImmediate(resolve));
      await node.close();
      await pending;
      expect(inputs.map((input) => input.node.isOpen)).toEqual([false, false]);
    }
  });
});
