// How far the values of a history scatter and how much each leans on the one before, read from differences of near values. It must never be
// fooled by steps: a step lies in one difference of many, where it lies in half of all distances from a mean.

/** Noise of the form x[i] = phi x[i-1] + e: what a mean of some values is worth. */
export interface Noise {
  /** Variance of a value. */
  readonly variance: number;
  /** Correlation of neighbours, 0 to {@link LARGEST_PHI}. */
  readonly phi: number;
}

// Nearer 1 the noise is a walk, whose variance is not a number; differences over small windows are the same up to there.
const LARGEST_PHI = 0.98;

// The largest tenth of the differences is where steps and outliers are.
const KEPT = 0.9;

/** E min(z^2, c^2) of a normal z whose |z| is at most c nine times in ten. */
const CLIPPED_NORMAL = 0.8313;

/** The noise of some values that may have steps in them; at least three values. */
export const noiseOf = (values: Float64Array, caution: number): Noise => {
  const size = values.length - 1;
  const differences = new Float64Array(size);
  const sizes = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    differences[i] = values[i + 1] - values[i];
    sizes[i] = Math.abs(differences[i]);
  }
  const largest = sizes.sort()[Math.floor((size - 1) * KEPT)];
  if (largest === 0) return { variance: 0, phi: 0 };
  let squares = 0;
  let products = 0;
  let last = 0;
  for (const difference of differences) {
    const clipped = Math.min(Math.max(difference, -largest), largest);
    squares += clipped ** 2;
    products += clipped * last;
    last = clipped;
  }
  // Neighbouring differences of such noise are correlated by -(1 - phi) / 2: what goes up by chance comes down again.
  const seen = 1 + (2 * products) / squares;
  const phi = Math.min(Math.max(seen + caution / Math.sqrt(size), 0), LARGEST_PHI);
  return { variance: squares / size / CLIPPED_NORMAL / (2 * (1 - phi)), phi };
};

/** Variance of the difference of the means of two neighbouring stretches of m and n values. */
export const varianceOfDifference = ({ variance, phi }: Noise, m: number, n: number): number => {
  const rest = 1 - phi;
  const ofMean = (size: number): number => (1 + phi) / rest / size - (2 * phi * (1 - phi ** size)) / (size * rest) ** 2;
  const shared = (phi * (1 - phi ** m) * (1 - phi ** n)) / (m * n * rest ** 2);
  return variance * (ofMean(m) + ofMean(n) - 2 * shared);
};
