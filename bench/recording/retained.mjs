// What a finished span keeps in memory until it is reported, for any subject. Runs in a process of its own with
// --expose-gc, where nothing is timed.

const TRACES = 1000;
const SPANS = 100;

const bufferedBytes = () => {
  global.gc();
  global.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

/**
 * @param {(n: number) => unknown} makeTrace
 * @param {() => unknown} drain
 */
export function retainedBytes(makeTrace, drain) {
  return {
    name: 'retained-bytes',
    n: SPANS,
    unit: 'bytes',
    opsPerRun: 1,
    async measure() {
      await drain();
      const before = bufferedBytes();
      for (let i = 0; i < TRACES; i++) makeTrace(SPANS);
      const held = bufferedBytes() - before;
      await drain();
      return held / (TRACES * SPANS);
    },
  };
}
