// What the subjects of the suite share: the tile's size, and cases that run for a while and give a rate. A subject whose answer is not
// that of the brute force must fail: what is wrong may be fast for that very reason.
import { QUERIES } from './queries.mjs';

export const TRACES = Number(process.env.SPANLINE_BENCH_TRACES);
const COUNTS = JSON.parse(process.env.SPANLINE_BENCH_COUNTS ?? '{}');

/** CPU time of all threads of this process, in seconds. */
export const cpuSeconds = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

export const check = (name, found) => {
  if (found !== COUNTS[name]) throw new Error(`${name}: ${found} ids, not ${COUNTS[name]}`);
};

/** Calls `body` until `ms` have passed, once at least. */
const repeatFor = async (ms, body) => {
  const end = performance.now() + ms;
  do await body();
  while (performance.now() < end);
};

/**
 * A case whose samples are whole runs. `body` returns how much it did; `prepare` and `clean` are not timed.
 * @param {{ name: string, n: string | number, unit: string, note?: string, prepare?: () => unknown, body: () => unknown, clean?: () => unknown }} test
 */
export const rateCase = ({ name, n, unit, note, prepare = () => {}, body, clean = () => {} }) => {
  let isWarm = false;
  const run = async (samples) => {
    await prepare();
    const cpu = cpuSeconds();
    const since = performance.now();
    const done = await body();
    const seconds = (performance.now() - since) / 1000;
    samples.push({ wall: done / seconds, done, cpu: cpuSeconds() - cpu });
    await clean();
  };
  const measure = async ({ warmUpMs, roundMs }) => {
    if (!isWarm) await repeatFor(warmUpMs, () => run([]));
    isWarm = true;
    const samples = [];
    await repeatFor(roundMs, () => run(samples));
    const sum = (field) => samples.reduce((total, sample) => total + sample[field], 0);
    return { caller: samples.map(({ wall }) => wall), total: sum('done') / sum('cpu') };
  };
  return { name, n, unit, note, opsPerRun: 1, measure };
};

/** A case of one query, whose ids are counted and checked. */
export const queryCase = (name, note, run) =>
  rateCase({
    name,
    n: TRACES,
    unit: 'ids/s',
    note,
    body: async () => {
      const found = await run();
      check(name, found);
      return found;
    },
  });

/** A case of the time to the first ids of a query, in milliseconds. */
export const firstIdCase = (query, run) => {
  let isWarm = false;
  const time = async () => {
    const since = performance.now();
    await run();
    return performance.now() - since;
  };
  const measure = async ({ warmUpMs, roundMs }) => {
    if (!isWarm) await repeatFor(warmUpMs, time);
    isWarm = true;
    const caller = [];
    await repeatFor(roundMs, async () => caller.push(await time()));
    return { caller, total: null };
  };
  return { name: 'first-id', n: query, unit: 'ms', opsPerRun: 1, measure };
};

/** The queries as `[name, conditions]`. */
export const queries = Object.entries(QUERIES);
