// The cases of the recording suite that every subject measures in the same way. A subject says how it makes a trace of
// n spans; an operation is one span, so that a trace's own cost is shared out over its spans.

export const TRACE_SIZES = [1, 10, 100, 1000];

/**
 * Cases `name` for each size of trace.
 * @param {string} name
 * @param {(n: number) => unknown} makeTrace
 * @param {() => unknown} drain
 */
export function perSpan(name, makeTrace, drain, sizes = TRACE_SIZES) {
  return sizes.map((n) => ({
    name,
    n,
    opsPerRun: n,
    drain,
    run(repeats) {
      for (let i = 0; i < repeats; i++) makeTrace(n);
    },
  }));
}

/** A whole trace of one span: a root, started and ended. `local-span` at n = 1 is a root, a run and a local span. */
export function wholeTrace(makeTrace, drain) {
  return {
    name: 'root-1',
    n: 1,
    opsPerRun: 1,
    drain,
    run(repeats) {
      for (let i = 0; i < repeats; i++) makeTrace(1);
    },
  };
}

/** What `async-span` wraps: the least an async function can do. */
export async function bare(value) {
  await null;
  return value;
}

/**
 * `async-span`: a traced async function over the bare one, both awaited in a trace of n.
 * @param {(body: () => Promise<void>) => Promise<void>} inTrace
 * @param {(value: number) => Promise<number>} tracedFunction
 */
export function asyncSpan(inTrace, tracedFunction, drain) {
  const awaitAll = async (fn, n) => {
    for (let i = 0; i < n; i++) await fn(i);
  };
  return TRACE_SIZES.map((n) => ({
    name: 'async-span',
    n,
    opsPerRun: n,
    drain,
    async run(repeats) {
      for (let i = 0; i < repeats; i++) await inTrace(() => awaitAll(tracedFunction, n));
    },
    async baseline(repeats) {
      for (let i = 0; i < repeats; i++) await awaitAll(bare, n);
    },
  }));
}
