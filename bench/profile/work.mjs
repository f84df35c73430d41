// The work that is profiled: a function that samples can be told by, in pieces of random length. A strict rhythm would meet that of the
// sampler, and every method would seem to err.
import { runInThisContext } from 'node:vm';

export const WORK = 'busyWork';

// More bytecode than any compiler of V8 inlines, in a branch that is never taken: samples have this name.
const PADDING = `if (rounds === undefined) {${'rounds = [rounds];'.repeat(400)}}`;

/** @type {(rounds: number) => number} */
export const busyWork = runInThisContext(
  `(function ${WORK}(rounds) { ${PADDING} let x = 0; for (let i = 0; i < rounds; i++) x += Math.sqrt(i); return x; })`,
);

const MEASURED_ROUNDS = 1_000_000;

const measureRoundsPerUs = () => {
  const times = [];
  for (let i = 0; i < 20; i++) {
    const since = performance.now();
    busyWork(MEASURED_ROUNDS);
    times.push(performance.now() - since);
  }
  return MEASURED_ROUNDS / (Math.min(...times) * 1000);
};

let roundsPerUs;

/** So many rounds of {@link busyWork} take about so many microseconds here. */
export const roundsIn = (us) => {
  roundsPerUs ??= measureRoundsPerUs();
  return Math.max(1, Math.round(us * roundsPerUs));
};
