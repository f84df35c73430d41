// Every clock source tells the right time: monotone, never 0, with nanosecond digits, at the rate of CLOCK_MONOTONIC, the
// same in worker threads; and what cannot be had is said, not thrown.
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ClockInfo } from '../../src/clock/clock-types.js';
import { bundleChild, runFile } from '../support/child.js';

interface Reading {
  readonly backwards: number;
  readonly zeros: number;
  readonly digits: number;
  readonly wallErrorMs: number;
  readonly rateError: number;
  readonly workerAgrees: boolean;
  readonly quiet: number;
  readonly afterJump: number;
  readonly info: ClockInfo & { readonly affinityKept: boolean };
}

let child: string;
beforeAll(async () => {
  child = await bundleChild(fileURLToPath(new URL('./children/read.ts', import.meta.url)));
});

const readWith = async (env: Record<string, string>): Promise<Reading> => {
  const { stdout, stderr, code } = await runFile(child, { env });
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return JSON.parse(stdout) as Reading;
};

const hasTsc = process.arch === 'x64' && process.platform === 'linux';
const isArm64 = process.arch === 'arm64' && process.platform === 'linux';
const counters = hasTsc ? ['tsc', 'tsc-percpu'] : isArm64 ? ['cntvct'] : [];
const sources = [...counters, 'monotonic', 'js'];

describe.each(sources)('source %s', (source) => {
  test('is right', async () => {
    const reading = await readWith({ SPANLINE_CLOCK: source });
    expect(reading.info.source).toBe(source === 'js' ? 'monotonic' : source);
    expect(reading.info.path === 'js').toBe(source === 'js');
    expect(reading).toMatchObject({ backwards: 0, zeros: 0, workerAgrees: true, wallErrorMs: 0 });
    // All thousand values of the last three digits do not come up; whole microseconds would give one. The counter of an emulated arm64 moves by
    // microseconds.
    if (source !== 'cntvct') expect(reading.digits).toBeGreaterThan(100);
    expect(reading.rateError).toBeLessThan(0.01);
    expect(reading.info.affinityKept).toBe(true);
  });
});

test.runIf(isArm64)(
  'on arm64 the counter of the CPU is the first choice, by the fast call, at the frequency that the CPU states',
  async () => {
    const { info } = await readWith({});
    expect(info).toMatchObject({ source: 'cntvct', path: 'fast', reasons: [], cores: [] });
    // The generic timer of any CPU made; a tick is a whole number of hertz.
    expect(info.hz).toBeGreaterThanOrEqual(1e6);
    expect(info.nsPerTick * Math.round(info.hz)).toBeCloseTo(1e9, 3);
  },
);

test.runIf(hasTsc)('a jump of CLOCK_MONOTONIC is counted once', async () => {
  const { quiet, afterJump } = await readWith({ SPANLINE_CLOCK: 'tsc' });
  expect(quiet).toBe(0);
  expect(afterJump).toBe(1);
});

test.runIf(hasTsc)('offsets between cores are recovered within their bound, and time stays right', async () => {
  // Far more than the tolerance below: a reading that is not corrected would show.
  const ticks = 50_000_000;
  const { info, backwards, rateError } = await readWith({
    SPANLINE_CLOCK: 'tsc-percpu',
    SPANLINE_CLOCK_TEST_OFFSETS: `1:${ticks}`,
  });
  expect(backwards).toBe(0);
  expect(rateError).toBeLessThan(0.01);
  const core = info.cores.find(({ cpu }) => cpu === 1);
  // A machine with one CPU has nothing to compare.
  if (core !== undefined && info.cores[0].cpu === 0) {
    expect(Math.abs(core.offsetNs - ticks * info.nsPerTick)).toBeLessThanOrEqual(core.errorNs + 1);
  }
});

test('the fast path and the addon can be refused, and the time is still right', async () => {
  const napi = await readWith({ SPANLINE_CLOCK_PATH: 'napi' });
  expect(['napi', 'js']).toContain(napi.info.path);
  const js = await readWith({ SPANLINE_CLOCK_PATH: 'js' });
  expect(js.info.path).toBe('js');
  expect(js.info.reasons.join()).toContain('asked for');
  for (const reading of [napi, js]) expect(reading).toMatchObject({ backwards: 0, zeros: 0, wallErrorMs: 0 });
});

test('an unknown name is a reason, not an error', async () => {
  const { info } = await readWith({ SPANLINE_CLOCK: 'sundial' });
  expect(info.reasons.join()).toContain('SPANLINE_CLOCK=sundial');
});

test.runIf(hasTsc)('a source of another architecture is a reason', async () => {
  const { info } = await readWith({ SPANLINE_CLOCK: 'cntvct' });
  expect(info.source).not.toBe('cntvct');
  expect(info.reasons.join()).toContain('arm64');
});
