// How much each case of the suite does, told to the subjects' processes through their environment.
const VARIABLE = 'SPANLINE_BENCH_PROFILE';

const SIZES = {
  // About 3,000 samples a run.
  full: { runs: 5, runMs: 1500, sideMs: 250, triples: 7 },
  quick: { runs: 2, runMs: 400, sideMs: 100, triples: 5 },
};

/** Between samples of the runs whose shares are known. Labels and their shares are the same at any. */
export const EVERY_MS = 0.5;

export const settings = SIZES[process.env[VARIABLE] ?? 'quick'];

/** The environment of a subject. */
export const environment = (size) => ({ [VARIABLE]: size });
