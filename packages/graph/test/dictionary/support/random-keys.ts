// Keys as dictionaries meet them, from a seed: hashes, names, ids of spans. The same seed gives the same keys.

/** Numbers from 0 to 1 (mulberry32). */
export type Random = () => number;

export const seeded = (seed: number): Random => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

export const below = (random: Random, count: number): number => Math.floor(random() * count);

export const randomBytes = (random: Random, length: number): Buffer => {
  const bytes = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) bytes[i] = below(random, 256);
  return bytes;
};

/** Shuffled in place. */
export const shuffled = <T>(items: T[], random: Random): T[] => {
  for (let i = items.length - 1; i > 0; i--) {
    const j = below(random, i + 1);
    [items[i], items[j]] = [items[j], items[i]];
  }
  return items;
};

/** The numbers below `count` in a random order: ordinals of keys that know nothing of their graph. */
export const permutation = (count: number, random: Random): number[] =>
  shuffled(
    Array.from({ length: count }, (_, i) => i),
    random,
  );

const sorted = (keys: Buffer[]): Buffer[] => keys.sort(Buffer.compare);

export const hashKeys = (count: number, bytes = 20, random = seeded(1)): Buffer[] =>
  sorted(Array.from({ length: count }, () => randomBytes(random, bytes)));

/** `name@example.com-20070101123456-<16 digits>` of some people. */
export const nameKeys = (count: number, people = 20, random = seeded(2)): Buffer[] => {
  const names = Array.from({ length: people }, () => `${below(random, 36 ** 5).toString(36)}@example.com`);
  return sorted(
    Array.from({ length: count }, () => {
      const time = new Date(1.1e12 + below(random, 1.5e8) * 1000).toISOString().replace(/\D/g, '').slice(0, 14);
      const id = randomBytes(random, 8).toString('hex');
      return Buffer.from(`${names[below(random, people)]}-${time}-${id}`);
    }),
  );
};

/** 16 bytes of a trace, 8 of a span. */
export const spanKeys = (traces: number, spansEach: number, random = seeded(3)): Buffer[] =>
  sorted(
    Array.from({ length: traces }, () => randomBytes(random, 16)).flatMap((trace) =>
      Array.from({ length: spansEach }, () => Buffer.concat([trace, randomBytes(random, 8)])),
    ),
  );

/** Ordinals of span keys: traces in the order of their keys, spans of a trace in any. */
export const nearOrdinals = (traces: number, spansEach: number, random = seeded(4)): number[] =>
  Array.from({ length: traces }, (_, trace) =>
    permutation(spansEach, random).map((place) => trace * spansEach + place),
  ).flat();
