// The tail of the normal distribution, from its definition. Must keep its relative precision far out, where 1 - erf has no digits.

const SERIES_END = 2.5;
const TERMS = 80;

// DLMF 7.6.1.
const erfcBySeries = (x: number): number => {
  let term = x;
  let sum = x;
  for (let n = 1; n < TERMS; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return 1 - (2 / Math.sqrt(Math.PI)) * sum;
};

// DLMF 7.9.1, from the innermost term outwards.
const erfcByFraction = (x: number): number => {
  let value = x;
  for (let n = TERMS; n >= 1; n--) value = x + n / 2 / value;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * value);
};

/** P(|Z| >= |z|) for the standard normal. */
export const normalTwoSided = (z: number): number => {
  const x = Math.abs(z) / Math.SQRT2;
  return x < SERIES_END ? erfcBySeries(x) : erfcByFraction(x);
};
