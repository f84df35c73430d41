// The case of the clock suite: reading a clock in a loop.

/** Kept so that no read can be optimised away. */
export let last;

/**
 * @param {string} source
 * @param {() => unknown} read
 */
export const reads = (source, read) => ({
  name: 'clock-now',
  n: source,
  opsPerRun: 100,
  run(repeats) {
    let value;
    for (let i = 0; i < repeats * 100; i++) value = read();
    last = value;
  },
});
