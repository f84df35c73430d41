// Which clock spans are stamped with, how exact it is, and what one reading costs on this machine. Each source is measured in a process of its
// own, because a process has one source.
import { spawnSync } from 'node:child_process';
import { type ClockInfo, clockInfo } from 'spanline';
import { now } from 'spanline/internal/rows';
import { failed } from './exit-code.js';

const SOURCES = ['tsc', 'tsc-percpu', 'cntvct', 'monotonic', 'js'] as const;

const READS = 1000;
const WARM_ROUNDS = 2000;
const ROUNDS = 200;

// Each reader has a loop of its own: one loop for all would see many functions and optimise for none.
const READERS: Readonly<Record<string, () => number>> = {
  now: () => {
    let sum = 0;
    for (let i = 0; i < READS; i++) sum += now();
    return sum;
  },
  'performance.now': () => {
    let sum = 0;
    for (let i = 0; i < READS; i++) sum += performance.now();
    return sum;
  },
  'process.hrtime.bigint': () => {
    let sum = 0n;
    for (let i = 0; i < READS; i++) sum += process.hrtime.bigint();
    return Number(sum & 1n);
  },
};

// The minimum of several rounds: anything above it is somebody else's work.
const cost = (read: () => number): number => {
  for (let i = 0; i < WARM_ROUNDS; i++) read();
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const begin = process.hrtime.bigint();
    read();
    best = Math.min(best, Number(process.hrtime.bigint() - begin) / READS);
  }
  return best;
};

/** Nanoseconds a reading in this process, by name: of the clock in force, and of Node's own for reference. */
const readCosts = (): Record<string, number> =>
  Object.fromEntries(Object.entries(READERS).map(([name, read]) => [name, cost(read)]));

/** One source as measured; `info.source` differs from `asked` when this machine does not have it. */
interface Measured {
  readonly asked: string;
  readonly info: ClockInfo;
  readonly costs: Readonly<Record<string, number>>;
}

const measure = (asked: string): Measured => {
  const { stdout, status, stderr } = spawnSync(process.execPath, [process.argv[1], 'clock', '--measure'], {
    env: { ...process.env, SPANLINE_CLOCK: asked },
    encoding: 'utf8',
  });
  if (status !== 0) throw failed('ERR_SPANLINE_CLOCK', `measuring ${asked} failed: ${stderr.trim()}`);
  return { asked, ...(JSON.parse(stdout) as Omit<Measured, 'asked'>) };
};

const isThere = ({ asked, info }: Measured): boolean =>
  asked === 'js' ? info.path === 'js' : info.source === asked && info.path !== 'js';

const describeDrift = ({ source, driftPpm, recalibrations }: ClockInfo): string => {
  if (source === 'monotonic') return 'none: it is CLOCK_MONOTONIC';
  if (source === 'cntvct') return 'not watched: one counter for all cores, at the frequency that the CPU states';
  return `${driftPpm.toFixed(2)} ppm against CLOCK_MONOTONIC, ${recalibrations} recalibrations`;
};

const describe = (info: ClockInfo): string[] => [
  `source       ${info.source}`,
  `path         ${info.path} (Node ABI ${info.abi})`,
  `frequency    ${(info.hz / 1e6).toFixed(3)} MHz, ${info.nsPerTick.toFixed(6)} ns a tick`,
  `drift        ${describeDrift(info)}`,
  `unknown CPU  ${info.unknownCpuReadings} readings`,
  ...info.reasons.map((reason) => `note         ${reason}`),
];

const describeCores = ({ cores }: ClockInfo): string[] =>
  cores.map(
    ({ cpu, offsetNs, errorNs }) =>
      `cpu ${String(cpu).padStart(4)}  offset ${offsetNs.toFixed(1).padStart(10)} ns  within ${errorNs.toFixed(1)} ns`,
  );

const describeCosts = (measured: readonly Measured[]): string[] => {
  const rows = measured.filter(isThere).map(({ asked, costs }) => [asked, costs.now] as const);
  const { now: _, ...references } = measured[0].costs;
  return [...rows, ...Object.entries(references)].map(
    ([name, ns]) => `${name.padEnd(24)} ${ns.toFixed(1).padStart(8)} ns`,
  );
};

/** By architecture: what counts the time, and why its offsets may not have been measured. */
const COUNTERS: Readonly<Record<string, readonly [counter: string, missing: string]>> = {
  x64: ['TSC', 'no TSC with RDTSCP'],
  arm64: ['CNTVCT', 'it is one counter for all cores'],
};

const report = (own: ClockInfo, measured: readonly Measured[]): string => {
  const perCpu = measured.find((one) => one.asked === 'tsc-percpu');
  const [counter, missing] = COUNTERS[process.arch] ?? ['cycle counter', 'none is read on this kind of machine'];
  const cores = perCpu !== undefined && isThere(perCpu) ? describeCores(perCpu.info) : [`not measured: ${missing}`];
  return [
    ...describe(own),
    '',
    `per-core offsets of the ${counter} (by pinned threads, against the first core)`,
    ...cores,
    '',
    'one reading, from optimised JavaScript',
    ...describeCosts(measured),
    '',
  ].join('\n');
};

export interface ClockOptions {
  readonly json?: boolean;
  /** This process alone, for the one that called it. */
  readonly measure?: boolean;
}

/** Prints the report. */
export const reportClock = (options: ClockOptions): void => {
  if (options.measure) {
    process.stdout.write(`${JSON.stringify({ info: clockInfo(), costs: readCosts() })}\n`);
    return;
  }
  const measured = SOURCES.map(measure);
  const own = clockInfo();
  const output = options.json
    ? `${JSON.stringify({ ...own, sources: measured.filter(isThere).map(({ asked, info, costs }) => ({ name: asked, readNs: costs.now, cores: info.cores })) }, null, 2)}\n`
    : report(own, measured);
  process.stdout.write(output);
};
