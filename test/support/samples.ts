// How often a test tries what chance decides: a small sample in `npm test`, a larger one in `npm run test:full`, a whole one in
// `npm run test:nightly`. A sample is the same in every run of its suite (fast-check.ts has the seed), so that a pass is not luck.

const SUITES = ['quick', 'full', 'nightly'] as const;
type Suite = (typeof SUITES)[number];

const suiteOf = (name: string): Suite => {
  const suite = SUITES.find((one) => one === name);
  if (suite === undefined) throw new Error(`SPANLINE_TESTS is ${name}; it must be ${SUITES.join(', ')}`);
  return suite;
};

/** The suite whose samples are taken: the one that runs, or a smaller one where the whole suite runs on another line of Node. */
export const suite = suiteOf(process.env.SPANLINE_SAMPLES ?? process.env.SPANLINE_TESTS ?? 'quick');

/** The number for the suite that runs; `nightly` is as large as `full` when left out. */
export const samples = (quick: number, full: number, nightly = full): number => ({ quick, full, nightly })[suite];

/** Evenly spread items of `all`, as many as the suite that runs tries. */
export const sampleOf = <T>(all: readonly T[], quick: number, full: number, nightly = all.length): T[] => {
  const count = Math.min(all.length, samples(quick, full, nightly));
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)] as T);
};
