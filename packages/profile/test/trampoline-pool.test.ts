// A sample under a trampoline belongs to whom the trampoline worked for at the sample's time, whatever happened to the label since.
import { expect, test } from 'vitest';
import { samples } from '../../../test/support/samples.js';
import { DynamicLabel, stats } from '../src/index.js';
import { monotonicUs } from '../src/sample-clock.js';
import { register } from '../src/shared-state.js';
import { LOST } from '../src/trampoline-history.js';
import { OVERFLOW, TrampolinePool, trampolineIndex } from '../src/trampoline-pool.js';

const label = (i: number): DynamicLabel => new DynamicLabel('i', i);
/** The trampoline on the stack of what `label` runs. */
const frameOf = (pool: TrampolinePool, of: DynamicLabel): number => pool.run(of, innermostTrampoline);
const innermostTrampoline = (): number => {
  const name = /trampoline_\d+/.exec(new Error('where').stack ?? '')?.[0] ?? '';
  return trampolineIndex(name, 'spanline:trampoline');
};
const pass = (): void => {
  const start = monotonicUs();
  while (monotonicUs() < start + 2);
};

for (const kind of ['second-context', 'padded'] as const) {
  test(`a trampoline (${kind}) leaves its own frame and hands on what its function gives and throws`, () => {
    const pool = new TrampolinePool(kind);
    const [a, b] = [label(1), label(2)];
    expect(frameOf(pool, a)).not.toBe(frameOf(pool, b));
    expect(frameOf(pool, a)).toBe(frameOf(pool, a));
    const error = new Error('mine');
    expect(() =>
      pool.run(a, () => {
        throw error;
      }),
    ).toThrow(error);
  });
}

test('a trampoline reused by B keeps the samples of A, to the microsecond of the binding', () => {
  const pool = new TrampolinePool('second-context', 1);
  const [a, b] = [label(1), label(2)];
  const index = frameOf(pool, a);
  const duringA = monotonicUs();
  pool.release(a);
  expect(frameOf(pool, b)).toBe(index);
  const duringB = monotonicUs();
  expect(pool.labelAt(index, duringA)).toBe(a);
  expect(pool.labelAt(index, duringB)).toBe(b);
  // B was bound in a later microsecond than the last of A: whichever it is, each before it is A's and each from it is B's.
  const owners = Array.from({ length: duringB - duringA + 1 }, (_, i) => pool.labelAt(index, duringA + i));
  expect(owners).toEqual([...owners.filter((owner) => owner === a), ...owners.filter((owner) => owner === b)]);
});

test('no microsecond holds the end of one owner and the beginning of the next', () => {
  const pool = new TrampolinePool('second-context', 1);
  const index = frameOf(pool, label(0));
  for (let i = 0; i < 3000; i++) {
    const [a, b] = [label(1), label(2)];
    pool.reset();
    const endOfA = pool.run(a, monotonicUs);
    pool.release(a);
    pool.run(b, () => undefined);
    expect(pool.labelAt(index, endOfA)).toBe(a);
  }
});

test('before anybody had it a trampoline has no samples to give', () => {
  const pool = new TrampolinePool('second-context');
  const before = monotonicUs() - 1;
  expect(pool.labelAt(frameOf(pool, label(1)), before)).toBe(LOST);
});

test('a label disposed of during its call keeps its trampoline until the call is over', () => {
  const pool = new TrampolinePool('second-context', 1);
  const [a, b] = [label(1), label(2)];
  const before = stats().counters.trampolinesQuarantined;
  const index = pool.run(a, () => {
    pool.release(a);
    expect(pool.labelAt(frameOf(pool, b), monotonicUs())).toBe(OVERFLOW);
    return innermostTrampoline();
  });
  expect(stats().counters.trampolinesQuarantined - before).toBe(1);
  expect(frameOf(pool, b)).toBe(index);
});

test('when all trampolines are taken labels share the overflow, and work goes on', () => {
  const pool = new TrampolinePool('second-context', 4);
  const before = stats().counters.trampolinesExhausted;
  const labels = Array.from({ length: 6 }, (_, i) => label(i));
  const frames = labels.map((each) => frameOf(pool, each));
  expect(new Set(frames).size).toBe(5);
  expect(frames.map((frame) => pool.labelAt(frame, monotonicUs()) === OVERFLOW)).toEqual([
    ...Array(4).fill(false),
    true,
    true,
  ]);
  expect(stats().counters.trampolinesExhausted - before).toBe(2);
  pool.release(labels[0]);
  expect(pool.labelAt(frameOf(pool, labels[5]), monotonicUs())).toBe(labels[5]);
});

test('a pool grows with the labels alive and not with the labels ever made', () => {
  const pool = new TrampolinePool('second-context');
  for (let i = 0; i < samples(1000, 10_000); i++) {
    const each = label(i);
    expect(frameOf(pool, each)).toBeGreaterThan(0);
    pool.release(each);
  }
  expect(pool.size).toBe(256);
  const alive = Array.from({ length: 600 }, (_, i) => label(i));
  expect(new Set(alive.map((each) => frameOf(pool, each))).size).toBe(600);
  expect(pool.size).toBe(1024);
});

test('the history is bounded: what was overwritten is lost and nobody else’s', () => {
  const pool = new TrampolinePool('second-context', 1);
  const a = label(0);
  const index = frameOf(pool, a);
  const early = monotonicUs();
  pool.release(a);
  pass();
  for (let i = 0; i < 32_768; i++) {
    const each = label(i);
    pool.run(each, () => undefined);
    pool.release(each);
  }
  expect(pool.labelAt(index, early)).toBe(LOST);
});

test('the end of a profile gives every trampoline back', () => {
  const pool = new TrampolinePool('second-context', 2);
  const labels = [label(1), label(2)];
  for (const each of labels) frameOf(pool, each);
  pool.reset();
  expect(new Set([label(3), label(4)].map((each) => frameOf(pool, each))).size).toBe(2);
});

test('a bound function that outlives the labels around it takes no trampoline for good', () => {
  const pool = new TrampolinePool('second-context', 4);
  const before = stats().counters.trampolinesExhausted;
  const inner = label(0);
  register.pool = pool;
  try {
    for (let i = 1; i < 20; i++) {
      const outer = label(i);
      const bound = outer.apply(() => inner.bind(innermostTrampoline));
      outer[Symbol.dispose]();
      expect(pool.labelAt(bound(), monotonicUs())).toBe(inner);
    }
  } finally {
    register.pool = undefined;
    pool.reset();
  }
  expect(stats().counters.trampolinesExhausted - before).toBe(0);
});
