// A profile counts every sample once, gives each label its share, and leaves nothing behind.
import { Session } from 'node:inspector';
import { describe, expect, test } from 'vitest';
import {
  DynamicLabel,
  NO_LABEL,
  ProfileError,
  profile,
  SampleKind,
  shares,
  startProfile,
  stats,
} from '../src/index.js';
import { register } from '../src/shared-state.js';
import { loadSigprof } from '../src/sigprof.js';
import {
  busyAcrossAwaits,
  busyFor,
  busyWork,
  expectAll,
  expectShares,
  isConserved,
  isWork,
  jitter,
  withSamples,
  workSamples,
} from './support/busy-work.js';
import { carriers, hasRegister } from './support/carriers.js';
import { isEntered } from './support/chance.js';

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProfileError);
  return (error as ProfileError).code;
};

/** Work in labels q0, q1, ... in these proportions, in random order and random pieces; how much of it was done in each. */
const workIn = (parts: readonly number[], cpuMs: number): Map<string, number> => {
  const labels = parts.map((_, i) => new DynamicLabel('query', `q${i}`));
  const sum = parts.reduce((a, b) => a + b);
  const done = new Map<string, number>();
  busyFor(cpuMs, () => {
    let at = Math.random() * sum;
    const i = parts.findIndex((part) => {
      at -= part;
      return at <= 0;
    });
    const units = jitter(50);
    done.set(`q${i}`, (done.get(`q${i}`) ?? 0) + units);
    labels[i].apply(() => busyWork(units));
  });
  return done;
};

describe.each(carriers)('carrier %s', (carrier) => {
  test('each label has its share of the samples, and every sample is counted once', async () => {
    let done = new Map<string, number>();
    const taken = await withSamples(200, async (cpuMs) => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      expect(running.carrier).toBe(carrier);
      done = workIn([1, 2, 3, 4], cpuMs);
      return running.stop();
    });
    expect(isConserved(taken)).toBe(true);
    expect(taken.carrier).toBe(carrier);
    expectShares(taken, 'query', done);
  });

  test('labels around each other are all on the sample; CPU time goes to each', async () => {
    const outer = new DynamicLabel('query', 'q1');
    const inner = new DynamicLabel('node', 'scan');
    const taken = await withSamples(20, async (cpuMs) => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      busyFor(cpuMs, () => outer.apply(() => inner.apply(() => busyWork(jitter(100)))));
      return running.stop();
    });
    expect(taken.labels).toContainEqual({ query: 'q1', node: 'scan' });
    expectAll(taken, 'query', 'q1');
    expectAll(taken, 'node', 'scan');
    const cpu = inner.cpu();
    expect(cpu.samples).toBeGreaterThan(1);
    expect(cpu.ns).toBeGreaterThan(0);
    expect(cpu.stderrNs).toBeLessThan(cpu.ns);
    expect(outer.cpu().samples).toBeGreaterThanOrEqual(cpu.samples);
  });

  test('a bound function has none of the labels around its call', async () => {
    const bound = new DynamicLabel('query', 'q1').bind(() => busyWork(jitter(100)));
    const caller = new DynamicLabel({ tenant: 'other', query: 'other' });
    const taken = await withSamples(20, async (cpuMs) => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      await busyAcrossAwaits(cpuMs, () => {
        caller.apply(bound);
        return caller.run(async () => {
          await undefined;
          bound();
        });
      });
      return running.stop();
    });
    expectAll(taken, 'query', 'q1');
    expect(workSamples(taken, 'tenant').byValue.other).toBeUndefined();
  });

  test('no trace of labels is left in the call tree', async () => {
    const running = await startProfile({ everyMs: 0.5, carrier });
    workIn([1, 1], 100);
    const { nodes } = running.stop();
    const callers = nodes.functionName.flatMap((name, i) => (name === 'busyWork' ? [nodes.url[nodes.parent[i]]] : []));
    // Where V8 has inlined the function that is labelled, it may tell its caller in its place: both are of the test.
    const [own, support] = [import.meta.url, new URL('./support/busy-work.ts', import.meta.url).href];
    expect(callers.filter((url) => url !== own && url !== support)).toEqual([]);
    expect(callers.length).toBeGreaterThan(0);
    expect(nodes.url.filter((url) => url.startsWith('spanline:'))).toEqual([]);
    const frames = nodes.functionName.map((name, i) =>
      [nodes.parent[i], name, nodes.url[i], nodes.line[i], nodes.column[i]].join(),
    );
    expect(new Set(frames).size).toBe(nodes.count);
  });

  test('thousands of labels, each for a moment', async () => {
    const taken = await withSamples(20, async (cpuMs) => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      let i = 0;
      busyFor(cpuMs, () => {
        using label = new DynamicLabel('query', i++);
        label.apply(() => busyWork(20));
      });
      return running.stop();
    });
    const { all, byValue } = workSamples(taken, 'query');
    expect(isEntered(byValue[''] ?? 0, all)).toBe(true);
    expect(taken.labels.length).toBeLessThanOrEqual(taken.counts.total + 3);
  });
});

test.runIf(hasRegister)('CPU time is measured: all that the thread had until the last sample', async () => {
  const cpuNs = (): number => loadSigprof().module?.threadCpuNs() ?? 0;
  let before = 0;
  let after = 0;
  // CPU time before each piece of work.
  let moments: { readonly ns: number; readonly cpuNs: number }[] = [];
  const taken = await withSamples(50, async (cpuMs) => {
    before = cpuNs();
    const running = await startProfile({ everyMs: 0.5, carrier: 'register' });
    moments = [];
    busyFor(cpuMs, () => {
      moments.push({ ns: Number(process.hrtime.bigint()), cpuNs: cpuNs() });
      busyWork(jitter(50));
    });
    const profile = running.stop();
    after = cpuNs();
    return profile;
  });
  expect(taken.unit).toBe('cpu');
  const { samples } = taken;
  const lastNs = taken.startNs + samples.atNs[samples.kind.findLastIndex((_, i) => isWork(taken, i))];
  const measured = samples.cpuNs.reduce((a, b) => a + b);
  expect(measured).toBeGreaterThanOrEqual((moments.findLast(({ ns }) => ns <= lastNs)?.cpuNs ?? 0) - moments[0].cpuNs);
  expect(measured).toBeLessThanOrEqual(after - before);
  samples.kind.forEach((kind, i) => {
    if (kind === SampleKind.idle) expect(samples.cpuNs[i]).toBe(0);
  });
});

test('a thread that waits is idle and unlabelled', async () => {
  const before = Date.now();
  let taken = await profile({ durationMs: 100 });
  // What it does at the start and at the end does not grow with the time between, so that there is a length at which most samples are idle.
  for (let ms = 200; taken.counts.idle <= taken.counts.total / 2; ms *= 2) taken = await profile({ durationMs: ms });
  expect(isConserved(taken)).toBe(true);
  expect(taken.counts.labelled).toBe(0);
  expect(taken.samples.label.every((row) => row === NO_LABEL || row === 1)).toBe(true);
  expect(shares(taken, 'query').every(({ value }) => value === '')).toBe(true);
  expect(taken.endNs).toBeGreaterThan(taken.startNs);
  const startMs = Number(taken.startUnixNs / 1_000_000n);
  expect(startMs).toBeGreaterThanOrEqual(before - 1);
  expect(startMs).toBeLessThanOrEqual(Date.now());
});

test('one profile at a time in a thread', async () => {
  const running = await startProfile();
  expect(await codeOf(startProfile())).toBe('ERR_SPANLINE_PROFILE_BUSY');
  running.stop();
  expect(() => running.stop()).toThrow(ProfileError);
  (await startProfile()).stop();
});

test('a profile that costs more than asked ends by itself, and is given when it is stopped', async () => {
  const before = stats().counters.budgetStops;
  const running = await startProfile({ everyMs: 0.05, budgetPercent: 0.01 });
  while (register.isBusy) await new Promise(setImmediate);
  expect(stats().counters.budgetStops - before).toBe(1);
  (await startProfile()).stop();
  expect(isConserved(running.stop())).toBe(true);
  expect(() => running.stop()).toThrow(ProfileError);
  expect(await codeOf(startProfile({ budgetPercent: 0 }))).toBe('ERR_SPANLINE_PROFILE_OPTION');
});

test.each([
  { everyMs: 0 },
  { everyMs: Number.NaN },
  { durationMs: -1 },
  { durationMs: 3_600_000, everyMs: 0.05 },
  { budgetPercent: 0 },
  { signal: {} as AbortSignal },
  { signal: 5 as unknown as AbortSignal },
  { everyMs: 1n as unknown as number },
  { carrier: 'pigeon' as 'auto' },
])('a wrong option is refused by name: %o', async (options) => {
  expect(await codeOf(profile(options))).toBe('ERR_SPANLINE_PROFILE_OPTION');
  expect(register.isBusy).toBe(false);
});

test('a signal ends the profile before its time, and what was sampled is given', async () => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  const taken = await profile({ durationMs: 1_000_000, signal: controller.signal });
  expect(isConserved(taken)).toBe(true);
  expect(await codeOf(profile({ signal: controller.signal }))).toBe('ERR_SPANLINE_PROFILE_ABORTED');
});

test('another profiler of V8 goes on beside it, and both have all their samples', async () => {
  const session = new Session();
  session.connect();
  const post = (method: string): unknown => {
    let answer: unknown;
    session.post(method, (_, result) => {
      answer = result;
    });
    return answer;
  };
  post('Profiler.enable');
  post('Profiler.start');
  const running = await startProfile({ carrier: carriers[0] });
  workIn([1], 100);
  const taken = running.stop();
  workIn([1], 100);
  const { profile: other } = post('Profiler.stop') as { profile: { startTime: number; timeDeltas: number[] } };
  session.disconnect();
  expectAll(taken, 'query', 'q0');
  let us = other.startTime;
  const isLater: boolean[] = [];
  for (const delta of other.timeDeltas) {
    us += delta;
    isLater.push(us * 1000 > taken.endNs);
  }
  // V8 gives each of them its own samples; of a time in which the thread had the CPU for 100 ms there are some.
  expect(new Set(isLater)).toEqual(new Set([false, true]));
  if (hasRegister) expect(loadSigprof().module?.handler()).toBe('');
});

test.runIf(hasRegister)('a stranger at SIGPROF is refused by name and left in place', async () => {
  const listener = (): void => undefined;
  process.on('SIGPROF', listener);
  try {
    const refused = profile({ durationMs: 10 });
    await expect(refused).rejects.toThrow("process.on('SIGPROF')");
    expect(await codeOf(refused)).toBe('ERR_SPANLINE_PROFILE_FOREIGN_HANDLER');
    expect(loadSigprof().module?.handler()).toBe("process.on('SIGPROF')");
  } finally {
    process.off('SIGPROF', listener);
  }
  (await startProfile()).stop();
});
