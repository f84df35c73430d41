// What the subjects of the suite share: cases whose samples are whole runs, and counts that no clock can disturb. A subject with a wrong
// answer must fail: what is wrong may be fast for that very reason.
import { readFileSync } from 'node:fs';

/** CPU time of all threads of this process, in seconds. */
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const TICKS_PER_SECOND = 100;

/** CPU time of the processes this one has waited for, in seconds; undefined where the system does not tell. */
export const childCpuSeconds = () => {
  try {
    const fields = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ');
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return undefined;
  }
};

export const check = (what, found, wanted) => {
  if (found !== wanted) throw new Error(`${what}: ${found}, not ${wanted}`);
};

/** The figure of a unit, of so much done in so many seconds. */
const FIGURES = {
  ms: (_, seconds) => seconds * 1000,
  us: (done, seconds) => (seconds * 1e6) / done,
  perSecond: (done, seconds) => done / seconds,
};
const figureOf = (unit) => (unit.endsWith('/s') ? FIGURES.perSecond : FIGURES[unit]);

/** Calls `body` until `ms` have passed, once at least. */
const repeatFor = async (ms, body) => {
  const end = performance.now() + ms;
  do await body();
  while (performance.now() < end);
};

/**
 * A case whose samples are whole runs. `body` returns how much it did, or `{ done, seconds, cpu }` when another process did it;
 * `prepare` and `clean` are not timed. `maxRounds`: for what takes seconds; rounds after these give nothing, and there is no warm-up.
 * @param {{ name: string, n: string | number, unit: string, note?: string | (() => string), prepare?: () => unknown, body: () => unknown, clean?: () => unknown, maxRounds?: number }} test
 */
export const runCase = ({ name, n, unit, note, prepare = () => {}, body, clean = () => {}, maxRounds = Infinity }) => {
  const figure = figureOf(unit);
  let isWarm = maxRounds < Infinity;
  let rounds = 0;
  const run = async (samples) => {
    await prepare();
    const cpuBefore = cpuSeconds();
    const since = performance.now();
    const result = await body();
    const seconds = (performance.now() - since) / 1000;
    const own = { done: result, seconds, cpu: cpuSeconds() - cpuBefore };
    samples.push(typeof result === 'object' ? result : own);
    await clean();
  };
  const measure = async ({ warmUpMs, roundMs }) => {
    if (rounds++ >= maxRounds) return { caller: [], total: null };
    if (!isWarm) await repeatFor(warmUpMs, () => run([]));
    isWarm = true;
    const samples = [];
    await repeatFor(roundMs, () => run(samples));
    test.note ??= typeof note === 'function' ? note() : note;
    const sum = (field) => samples.reduce((total, sample) => total + sample[field], 0);
    const cpu = samples.some((sample) => sample.cpu === undefined) ? null : sum('cpu');
    return {
      caller: samples.map(({ done, seconds }) => figure(done, seconds)),
      total: cpu === null ? null : figure(sum('done'), cpu) / (unit === 'ms' ? samples.length : 1),
    };
  };
  const test = { name, n, unit, opsPerRun: 1, measure };
  return test;
};

/** A case of figures that are the same every time, measured once. `body` returns one or several. */
export const countCase = ({ name, n, unit, note, body }) => {
  let isDone = false;
  const measure = async () => {
    if (isDone) return { caller: [], total: null };
    isDone = true;
    const figures = await body();
    test.note = typeof note === 'function' ? note() : note;
    return { caller: [figures].flat(), total: null };
  };
  const test = { name, n, unit, opsPerRun: 1, measure };
  return test;
};
