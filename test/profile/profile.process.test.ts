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
} from '../../src/profile/index.js';
import { register } from '../../src/profile/shared-state.js';
import { loadSigprof } from '../../src/profile/sigprof.js';
import { busyWork, isConserved, jitter, shareOf, withSamples, workSamples } from './support/busy-work.js';
import { carriers, hasRegister } from './support/carriers.js';

const MS = 400;

const codeOf = async (promise: Promise<unknown>): Promise<string> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ProfileError);
  return (error as ProfileError).code;
};

/** Work in labels q0, q1, ... in these proportions, in random order and random pieces. */
const workIn = (parts: readonly number[], ms: number): readonly number[] => {
  const labels = parts.map((_, i) => new DynamicLabel('query', `q${i}`));
  const sum = parts.reduce((a, b) => a + b);
  const done = parts.map(() => 0);
  const end = performance.now() + ms;
  while (performance.now() < end) {
    let at = Math.random() * sum;
    const i = parts.findIndex((part) => {
      at -= part;
      return at <= 0;
    });
    const units = jitter(50);
    done[i] += units;
    labels[i].apply(() => busyWork(units));
  }
  const all = done.reduce((a, b) => a + b);
  return done.map((units) => units / all);
};

describe.each(carriers)('carrier %s', (carrier) => {
  test('each label has its share of the samples, and every sample is counted once', async () => {
    let truth: readonly number[] = [];
    const taken = await withSamples(100, async () => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      expect(running.carrier).toBe(carrier);
      truth = workIn([1, 2, 3, 4], MS);
      return running.stop();
    });
    expect(isConserved(taken)).toBe(true);
    expect(taken.carrier).toBe(carrier);
    const { all, byValue } = workSamples(taken, 'query');
    expect(byValue[''] ?? 0).toBeLessThanOrEqual(all * 0.02);
    truth.forEach((share, i) => {
      expect(Math.abs(shareOf(taken, 'query', `q${i}`) - share)).toBeLessThan(0.25);
    });
  });

  test('labels around each other are all on the sample; CPU time goes to each', async () => {
    const outer = new DynamicLabel('query', 'q1');
    const inner = new DynamicLabel('node', 'scan');
    const taken = await withSamples(20, async () => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      const end = performance.now() + MS;
      while (performance.now() < end) outer.apply(() => inner.apply(() => busyWork(jitter(100))));
      return running.stop();
    });
    expect(taken.labels).toContainEqual({ query: 'q1', node: 'scan' });
    expect(shareOf(taken, 'query', 'q1')).toBeGreaterThan(0.95);
    expect(shareOf(taken, 'node', 'scan')).toBeGreaterThan(0.95);
    const cpu = inner.cpu();
    expect(cpu.samples).toBeGreaterThanOrEqual(20);
    expect(cpu.ns).toBeGreaterThan(0);
    expect(cpu.stderrNs).toBeLessThan(cpu.ns);
    expect(outer.cpu().samples).toBeGreaterThanOrEqual(cpu.samples);
  });

  test('a bound function has none of the labels around its call', async () => {
    const bound = new DynamicLabel('query', 'q1').bind(() => busyWork(jitter(100)));
    const caller = new DynamicLabel({ tenant: 'other', query: 'other' });
    const taken = await withSamples(20, async () => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      const end = performance.now() + MS / 2;
      while (performance.now() < end) {
        caller.apply(bound);
        await caller.run(async () => {
          await undefined;
          bound();
        });
      }
      return running.stop();
    });
    expect(shareOf(taken, 'query', 'q1')).toBeGreaterThan(0.95);
    expect(shareOf(taken, 'tenant', 'other')).toBe(0);
  });

  test('no trace of labels is left in the call tree', async () => {
    const running = await startProfile({ everyMs: 0.5, carrier });
    workIn([1, 1], MS / 4);
    const { nodes } = running.stop();
    const callers = nodes.functionName.flatMap((name, i) => (name === 'busyWork' ? [nodes.url[nodes.parent[i]]] : []));
    expect(new Set(callers)).toEqual(new Set([import.meta.url]));
    expect(nodes.url.filter((url) => url.startsWith('spanline:'))).toEqual([]);
    const frames = nodes.functionName.map((name, i) =>
      [nodes.parent[i], name, nodes.url[i], nodes.line[i], nodes.column[i]].join(),
    );
    expect(new Set(frames).size).toBe(nodes.count);
  });

  test('labels over time take constant memory', async () => {
    const running = await startProfile({ everyMs: 1, carrier });
    const bytesAfter = (labels: number): number => {
      for (let i = 0; i < labels; i++) {
        using label = new DynamicLabel('query', i);
        label.apply(() => i);
      }
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    };
    // As many as every bound of this room holds, and then as many again and again.
    const full = bytesAfter(140_000);
    const later = Math.min(bytesAfter(70_000), bytesAfter(70_000));
    running.stop();
    expect(later - full).toBeLessThan(4_000_000);
  });

  test('thousands of labels, each for a moment', async () => {
    const taken = await withSamples(1, async () => {
      const running = await startProfile({ everyMs: 0.5, carrier });
      for (let i = 0; i < 10_000; i++) {
        using label = new DynamicLabel('query', i);
        label.apply(() => busyWork(1));
      }
      return running.stop();
    });
    expect(workSamples(taken, 'query').byValue['']).toBeUndefined();
    expect(taken.labels.length).toBeLessThanOrEqual(taken.counts.total + 3);
  });
});

test.runIf(hasRegister)('more labels than the table holds: those that were sampled are kept', async () => {
  const forever = new DynamicLabel('query', 'around');
  const taken = await withSamples(1, async () => {
    const running = await startProfile({ everyMs: 0.5, carrier: 'register' });
    forever.apply(() => {
      for (let i = 0; i < 150_000; i++) new DynamicLabel('node', i).apply(() => i);
      busyWork(20_000);
    });
    return running.stop();
  });
  expect(taken.counts.overflow).toBe(0);
  expect(taken.counts.lost).toBeLessThanOrEqual(taken.counts.total * 0.02 + 1);
  expect(shareOf(taken, 'query', 'around')).toBe(1);
});

test.runIf(hasRegister)('CPU time is measured: of a thread at work about as much as its time', async () => {
  let spentNs = 0;
  const taken = await withSamples(50, async () => {
    const running = await startProfile({ everyMs: 0.5, carrier: 'register' });
    const before = process.cpuUsage();
    workIn([1], MS);
    const { user, system } = process.cpuUsage(before);
    spentNs = (user + system) * 1000;
    return running.stop();
  });
  expect(taken.unit).toBe('cpu');
  const cpuNs = taken.samples.cpuNs.reduce((a, b) => a + b);
  expect(cpuNs).toBeLessThan(spentNs * 1.5);
  expect(cpuNs).toBeGreaterThan(spentNs * 0.3);
  taken.samples.kind.forEach((kind, i) => {
    if (kind === SampleKind.idle) expect(taken.samples.cpuNs[i]).toBe(0);
  });
});

test('a thread that waits is idle and unlabelled', async () => {
  const taken = await profile({ durationMs: 200 });
  expect(isConserved(taken)).toBe(true);
  expect(taken.counts.idle).toBeGreaterThan(taken.counts.total / 2);
  expect(taken.counts.labelled).toBe(0);
  expect(taken.samples.label.every((row) => row === NO_LABEL || row === 1)).toBe(true);
  expect(shares(taken, 'query').every(({ value }) => value === '')).toBe(true);
  expect(taken.endNs).toBeGreaterThan(taken.startNs);
  expect(Number(taken.startUnixNs / 1_000_000n)).toBeCloseTo(Date.now(), -4);
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
  workIn([1], MS);
  const taken = running.stop();
  workIn([1], MS / 4);
  const { profile: other } = post('Profiler.stop') as { profile: { samples: number[] } };
  session.disconnect();
  expect(shareOf(taken, 'query', 'q0')).toBeGreaterThan(0.95);
  expect(other.samples.length).toBeGreaterThan(taken.counts.total);
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

test.skipIf(!hasRegister)(
  'no sample is lost among more labels than a profile could know, one inside the other',
  async () => {
    using outer = new DynamicLabel('query', 'outer');
    const before = stats().counters.labelsOverCap;
    const running = await startProfile({ everyMs: 0.5, carrier: 'register' });
    outer.apply(() => {
      for (let i = 0; i < 200_000; i++) {
        JSON.parse('[1, 2, 3]');
        using inner = new DynamicLabel('part', i % 7);
        inner.apply(() => JSON.parse('[4, 5, 6]'));
      }
    });
    const taken = running.stop();
    expect(new Set(taken.labels.flatMap(({ query }) => query ?? []))).toEqual(new Set(['outer']));
    expect(taken.counts.labelled).toBeGreaterThan(100);
    expect(taken.counts).toMatchObject({ lost: 0, overflow: 0 });
    expect(stats().counters.labelsOverCap).toBe(before);
  },
);
