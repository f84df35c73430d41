// The case of the clock suite: reading a clock in a loop. Numbers are added up, because a number that is merely kept has to
// be boxed, and that would be measured with the clock.

/** Kept so that no read can be optimised away. */
export let last;

const readsCase = (source, run) => ({ name: 'clock-now', n: source, opsPerRun: 100, run });

/**
 * @param {string} source
 * @param {() => number} read
 */
export const reads = (source, read) =>
  readsCase(source, (repeats) => {
    let sum = 0;
    for (let i = 0; i < repeats * 100; i++) sum += read();
    last = sum;
  });

/**
 * @param {string} source
 * @param {() => bigint} read
 */
export const bigintReads = (source, read) =>
  readsCase(source, (repeats) => {
    let value = 0n;
    for (let i = 0; i < repeats * 100; i++) value = read();
    last = value;
  });
