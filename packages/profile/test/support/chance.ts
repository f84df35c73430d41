// What chance may do to a share of samples. No test of a profile may fail by chance more often than once in a million runs of all of them.

/** Of two binomial distributions with these shares, by how much each sample tells them apart, in nats. */
const apart = (found: number, truth: number): number => {
  const part = (a: number, b: number): number => (a === 0 ? 0 : a * Math.log(a / b));
  return part(found, truth) + part(1 - found, 1 - truth);
};

// Samples come at moments that have nothing to do with pieces of work much shorter than the time between two of them, so each is a draw. A thread
// that was preempted meets the signal that waited and the next one in the same piece: two samples are one draw at worst. (Measured beside a
// load of thirteen on each core: the variance is 0.3 to 1.1 of the binomial one.)
const SAMPLES_OF_A_DRAW = 2;

// Chernoff: so many draws are as far from the truth with a chance of at most twice `e ** -(draws * apart)`. A check fails by chance in at most one
// of 1.8e9 runs; all of them together, fewer than a thousand a run, in one of 1.8 million.
const NATS = 22;

/** True where `found` of `all` samples is what chance gives of a share of `truth`. */
export const isByChance = (found: number, all: number, truth: number): boolean =>
  all === 0 || (all / SAMPLES_OF_A_DRAW) * apart(found / all, truth) <= NATS;

// Of a function that is just being entered V8 may miss the caller, and with it a label: some 20 of the 20,000 cycles and more of a piece.
const ENTERED = 0.002;

/** True where so few samples of the work are without a label, all of which has one, that they may have met functions being entered. */
export const isEntered = (untold: number, all: number): boolean =>
  untold / all <= ENTERED || isByChance(untold, all, ENTERED);
