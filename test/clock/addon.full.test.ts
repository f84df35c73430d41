// The addon under circumstances: a CPU that calibration has not seen, threads that come and go, threads that disagree.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { loadNative } from '../../src/clock/binding.js';
import { bundleChild, type ChildOptions, runFile } from '../support/child.js';

const isLinux = process.arch === 'x64' && process.platform === 'linux';
const features = loadNative().module?.features();
const hasPerCpu = isLinux && features?.invariantTsc === true && features.rdtscp;

const hasTaskset = (): boolean => {
  try {
    execFileSync('taskset', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** The first two CPUs that this process may run on. */
const twoCpus = (): readonly number[] => {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  const cpus = list.split(',').flatMap((range) => {
    const [first, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
  return cpus.slice(0, 2);
};

const run = async <T>(name: string, options?: ChildOptions): Promise<T> => {
  const child = await bundleChild(fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url)));
  const { code, stdout, stderr } = await runFile(child, options);
  expect([code, stderr]).toEqual([0, '']);
  return JSON.parse(stdout) as T;
};

// More ticks than any tolerance here: a reading that is not corrected, or a frame that moved, would show.
const FAR = 500_000_000;
const PERCPU = { SPANLINE_CLOCK: 'tsc-percpu' };

interface Stay {
  readonly unknown: number;
  readonly errorMs: number;
  readonly backwards: number;
}

const cpus = isLinux ? twoCpus() : [];
test.runIf(hasPerCpu && cpus.length === 2 && hasTaskset()).each([FAR, -FAR])(
  'a thread that moves to a CPU outside the table, %i ticks apart, keeps its time and is counted',
  async (ticks) => {
    const [home, abroad] = cpus.map(String);
    const result = await run<{ source: string; atHome: Stay; abroad: Stay; learnt: Stay; cores: number }>('move', {
      node: 'taskset',
      execArgv: ['-c', home, process.execPath],
      args: [abroad],
      env: { ...PERCPU, SPANLINE_CLOCK_TEST_OFFSETS: `${abroad}:${ticks}` },
    });
    expect(result).toMatchObject({ source: 'tsc-percpu', cores: 2 });
    expect(result.atHome.unknown).toBe(0);
    expect(result.abroad.unknown).toBeGreaterThan(0);
    expect(result.learnt.unknown).toBe(0);
    // Hundreds of milliseconds if the offset were missed once.
    for (const stay of [result.atHome, result.abroad, result.learnt]) {
      expect(stay.backwards).toBe(0);
      expect(stay.errorMs).toBeLessThan(10);
    }
  },
);

test.runIf(hasPerCpu)('readings on an unknown CPU come from CLOCK_MONOTONIC and are counted', async () => {
  const found = await run<{ rateError: number }>('addon', { args: ['unknownCpu'] });
  expect(found).toMatchObject({ counted: true, backwards: 0, isPositive: true, isPairNow: true });
  // The rate itself was measured between two readings; ticks taken for nanoseconds would be off by a half and more.
  expect(found.rateError).toBeLessThan(0.1);
});

test.runIf(hasPerCpu)('who gives up first, decides for the process', async () => {
  const found = await run<{ rateError: number }>('addon', { args: ['givenUp'] });
  expect(found).toMatchObject({ source: 0, claimed: 0, published: -1 });
  // The rate itself was measured between two readings; ticks taken for nanoseconds would be off by a half and more.
  expect(found.rateError).toBeLessThan(0.1);
});

test.runIf(hasPerCpu)(
  'who has published is not overruled, and a later calibration moves onto the clock that runs',
  async () => {
    const found = await run<{ offsets: number[]; moved: number[] }>('addon', { args: ['published'] });
    // CPU 9, known to both, stays where it was; 11 comes relative to it; 7 is as it was.
    const [, first] = found.offsets;
    expect(found.offsets).toEqual([7, first, 0, 9, first + 500, 3]);
    expect(found.moved).toEqual([7, first, 0, 9, first + 500, 4, 11, first + 520, 5]);
    expect(found).toMatchObject({ source: 2, shift: 0, at: 2000 });
  },
);

test.runIf(isLinux)('a fast-call file serves one clock: a second is refused, the first goes on', async () => {
  expect(await run('addon', { args: ['secondClock'] })).toEqual({ isRefused: true, isKept: true });
});

test.runIf(hasPerCpu)('no reading is 0 when the first core is far behind', async () => {
  const offsets = cpus.map((cpu, i) => `${cpu}:${i === 0 ? -10 * FAR : FAR}`).join();
  const reading = await run('read', { env: { ...PERCPU, SPANLINE_CLOCK_TEST_OFFSETS: offsets } });
  expect(reading).toMatchObject({ zeros: 0, backwards: 0, workerAgrees: true });
  expect((reading as { digits: number }).digits).toBeGreaterThan(100);
});

type Reading = readonly [string, number, number, number, boolean];

test.runIf(isLinux).each(['tsc', 'tsc-percpu', 'monotonic'])(
  'worker threads count from one anchor, also when none is left in between: %s',
  async (source) => {
    const env = {
      SPANLINE_CLOCK: source,
      SPANLINE_CLOCK_TEST_OFFSETS: cpus.map((cpu, i) => `${cpu}:${i * FAR}`).join(),
    };
    const { inTurn, atOnce } = await run<{ inTurn: Reading[]; atOnce: Reading[] }>('workers', { env });
    const all = [...inTurn, ...atOnce];
    expect(new Set(all.map(([name]) => name)).size).toBe(1);
    for (const [, ours, node, backwards, hasZero] of all) {
      expect([backwards, hasZero]).toEqual([0, false]);
      // The rate that a young worker has measured is right within some 25 ppm.
      expect(Math.abs(ours - all[0][1] - (node - all[0][2]))).toBeLessThan(10);
    }
  },
);
