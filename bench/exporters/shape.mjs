// What the exporters suite exports: the same spans for every subject. 16 traces of 32 spans, three properties each, an
// event on every eighth span.

export const TRACES = 16;
export const SPANS_PER_TRACE = 32;
/** Spans in a batch, and `n` of the cases. */
export const BATCH = TRACES * SPANS_PER_TRACE;
export const STALL_SPANS = 50_000;

export const PROPERTIES = { 'db.operation': 'select', 'db.rows': 17, 'cache.hit': true };
export const EVENT = { name: 'row decoded', properties: { bytes: 1024 } };
export const hasEvent = (i) => i % 8 === 0;

/** A case that exports one batch: an operation is a span. The caller's time is what the event loop was busy. */
export const perBatch = (name, run) => ({
  name,
  n: BATCH,
  opsPerRun: BATCH,
  waits: true,
  async run(repeats) {
    for (let i = 0; i < repeats; i++) await run();
  },
});

/** Like {@link perBatch} where all is synchronous, so that no promise is paid for. */
export const perBatchSync = (name, run) => ({
  name,
  n: BATCH,
  opsPerRun: BATCH,
  run(repeats) {
    for (let i = 0; i < repeats; i++) run();
  },
});

/**
 * The longest time in milliseconds that the event loop did not turn while `work` went on.
 * @param {() => Promise<unknown>} work
 */
export async function longestStall(work) {
  let longest = 0;
  let isOver = false;
  let last = performance.now();
  const turn = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await new Promise(setImmediate);
  last = performance.now();
  longest = 0;
  await work();
  isOver = true;
  return Math.max(longest, performance.now() - last);
}

/** @param {() => Promise<unknown>} prepare @param {() => Promise<unknown>} work */
export const stall = (prepare, work) => ({
  name: `stall-${STALL_SPANS}`,
  n: STALL_SPANS,
  unit: 'ms',
  opsPerRun: 1,
  async measure() {
    await prepare();
    return longestStall(work);
  },
});
