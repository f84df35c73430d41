// One benchmark case inside a child process: how it is sized and how one round of it is measured.
// Must never force a garbage collection: what a span leaves behind is part of its price.

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {number | string} n Spans in a trace, or another parameter of the case.
 * @property {number} opsPerRun Operations that `run(1)` does; figures are per operation.
 * @property {(repeats: number) => unknown} run What is timed; awaited when it returns a promise.
 * @property {(repeats: number) => unknown} [baseline] Timed right after each sample and taken off it.
 * @property {() => unknown} [drain] Done after each sample: outside the caller's time, inside the total.
 * @property {boolean} [waits] What is timed also waits for input or output: the time the event loop was idle is taken off.
 * @property {string} [unit] 'ns' unless told.
 * @property {(timing: { warmUpMs: number, roundMs: number }) => Promise<number | object>} [measure]
 *   In place of run: gives one figure in `unit` itself, or those of a round: `caller` and `total`, or what its suite makes rows of.
 * @property {string} [note] What else a reader must know, such as the query; may be set by `measure`.
 */

const MIN_OPS_PER_SAMPLE = 100;
const SAMPLE_NS = 1_000_000;
/** Keeps what waits for collection far below every subject's bound, so that no sample is cheap by refusing work. */
const MAX_OPS_PER_SAMPLE = 10_000;

const elapsedNs = (since) => Number(process.hrtime.bigint() - since);

async function time(body, repeats, waits = false) {
  const loop = waits ? performance.eventLoopUtilization() : undefined;
  const start = process.hrtime.bigint();
  const result = body(repeats);
  if (result instanceof Promise) await result;
  const ns = elapsedNs(start);
  return loop === undefined ? ns : ns - performance.eventLoopUtilization(loop).idle * 1e6;
}

const cpuNs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
};

/** Run until the code is optimised; how often to repeat `run` in a sample. */
async function calibrate(test, warmUpMs) {
  const end = performance.now() + warmUpMs;
  const least = Math.ceil(MIN_OPS_PER_SAMPLE / test.opsPerRun);
  const most = Math.max(least, Math.floor(MAX_OPS_PER_SAMPLE / test.opsPerRun));
  let repeats = least;
  do {
    const ns = await time(test.run, repeats);
    if (test.baseline) await time(test.baseline, repeats);
    await test.drain?.();
    repeats = Math.min(most, Math.max(least, Math.round((repeats * SAMPLE_NS) / Math.max(ns, 1))));
  } while (performance.now() < end);
  return repeats;
}

/** @returns {Promise<{ caller: number[], total: number | null }>} Figures per operation. */
async function measureRound(test, repeats, roundMs) {
  const perOp = (ns) => ns / (repeats * test.opsPerRun);
  const caller = [];
  const baseline = [];
  const end = performance.now() + roundMs;
  const cpuBefore = cpuNs();
  let baselineCpu = 0;
  do {
    caller.push(perOp(await time(test.run, repeats, test.waits)));
    if (test.baseline) {
      const before = cpuNs();
      baseline.push(perOp(await time(test.baseline, repeats)));
      baselineCpu += cpuNs() - before;
    }
    await test.drain?.();
  } while (performance.now() < end);
  // The baseline is in the round twice: as itself, and inside what was run.
  const cpu = cpuNs() - cpuBefore - 2 * baselineCpu;
  // Each sample less the one beside it: the machine was as busy for both.
  return { caller: caller.map((ns, i) => ns - (baseline[i] ?? 0)), total: perOp(cpu) / caller.length };
}

/** A case ready to give rounds: `round(ms)`. Warms up at its first round. */
export class Runner {
  #repeats = 0;

  /** @param {Case} test */
  constructor(test) {
    this.test = test;
  }

  async round(timing) {
    const { warmUpMs, roundMs } = timing;
    if (this.test.measure) {
      const measured = await this.test.measure(timing);
      return typeof measured === 'number' ? { caller: [measured], total: null } : measured;
    }
    if (this.#repeats === 0) this.#repeats = await calibrate(this.test, warmUpMs);
    return measureRound(this.test, this.#repeats, roundMs);
  }
}
