// Damages of files as data, so that what fails is shrunk and printed: flipped bits, cuts, stretches that were overwritten or are gone.
import fc from '../../../../test/support/fast-check.js';

type Bit = readonly [at: number, bit: number];

export type Damage =
  | { readonly way: 'flip'; readonly bits: readonly Bit[] }
  | { readonly way: 'cut'; readonly at: number }
  | { readonly way: 'fill'; readonly at: number; readonly length: number; readonly byte: number }
  | { readonly way: 'remove'; readonly at: number; readonly length: number };

/** Any number below `count`, each as likely as another: by default fast-check prefers the ends. */
export const anyBelow = (count: number): fc.Arbitrary<number> => fc.noBias(fc.nat(count - 1));

const anyBit = (bytes: number): fc.Arbitrary<Bit> => fc.tuple(anyBelow(bytes), anyBelow(8));

/** So many flipped bits of a file with so many bytes, some of which may hide each other. */
export const anyFlips = (bytes: number, count = 1): fc.Arbitrary<Damage> =>
  fc.record({
    way: fc.constant('flip' as const),
    bits: fc.array(anyBit(bytes), { minLength: count, maxLength: count }),
  });

/** Where a file with so many bytes ends: mostly where it should. */
export const anyEnd = (bytes: number): fc.Arbitrary<number> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(bytes) }, { weight: 1, arbitrary: anyBelow(bytes) });

export const anyCut = (bytes: number): fc.Arbitrary<Damage> =>
  fc.record({ way: fc.constant('cut' as const), at: anyBelow(bytes) });

export const anyFill = (
  bytes: number,
  maxLength: number,
  byte: fc.Arbitrary<number> = fc.constantFrom(0, 255),
): fc.Arbitrary<Damage> =>
  fc.record({ way: fc.constant('fill' as const), at: anyBelow(bytes), length: anyBelow(maxLength), byte });

/** A stretch is gone: all behind it has moved. */
const anyRemoval = (bytes: number): fc.Arbitrary<Damage> =>
  fc.record({ way: fc.constant('remove' as const), at: anyBelow(bytes), length: anyBelow(64).map((n) => n + 1) });

/** Any damage of a file with so many bytes. */
export const anyDamage = (bytes: number): fc.Arbitrary<Damage> =>
  fc.oneof(
    { weight: 65, arbitrary: anyFlips(bytes) },
    { weight: 10, arbitrary: anyFlips(bytes, 4) },
    { weight: 12, arbitrary: anyCut(bytes) },
    { weight: 7, arbitrary: anyFill(bytes, 3000) },
    { weight: 6, arbitrary: anyRemoval(bytes) },
  );

/** A damaged copy. */
export const damaged = (bytes: Buffer, damage: Damage): Buffer => {
  const copy = Buffer.from(bytes);
  switch (damage.way) {
    case 'flip':
      for (const [at, bit] of damage.bits) copy[at] ^= 1 << bit;
      return copy;
    case 'cut':
      return copy.subarray(0, damage.at);
    case 'fill':
      return copy.fill(damage.byte, damage.at, Math.min(copy.length, damage.at + damage.length));
    case 'remove':
      return Buffer.concat([copy.subarray(0, damage.at), copy.subarray(damage.at + damage.length)]);
  }
};
