// Random numbers that are the same in every run. They must never be used for anything but tests.

/** Uniform numbers in [0, 1) from a seed: the generator splitmix32. */
export const seeded = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

/** About normal, mean 0 and deviation 1: the sum of twelve uniform numbers less 6. */
export const noise = (random: () => number): number => {
  let sum = -6;
  for (let i = 0; i < 12; i++) sum += random();
  return sum;
};

/** The values in random order, every order equally likely. */
export const shuffled = (values: readonly number[], random: () => number): number[] => {
  const result = [...values];
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
};
