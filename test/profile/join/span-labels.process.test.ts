// While a profile is taken, samples bear the ids of the trace and span they worked for; before and after it, spans run as ever.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { Span, SpanContext, traced } from '../../../src/index.js';
import { state } from '../../../src/local-span/process-state.js';
import { DynamicLabel, type LabelledProfile, SPAN_ID_LABEL, startProfile } from '../../../src/profile/index.js';
import { MAX_DEPTH, recordOf } from '../../../src/profile/scope.js';
import { NO_SCOPE, register, type Scope } from '../../../src/profile/shared-state.js';
import { busyWork, jitter, shareOf, withSamples, workSamples } from '../support/busy-work.js';
import { carriers, hasRegister } from '../support/carriers.js';
import { gathering } from './support/traced-work.js';

const MS = 150;
const LEAST = 60;
const MOSTLY = 0.97;

const { collector } = gathering();
const rootSpan = (): Span => Span.root('root', SpanContext.random(), { collector });

const busyFor = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end) busyWork(jitter(20));
};

/** Small pieces of work with an await between. */
const busyAcrossAwaits = async (ms: number): Promise<void> => {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    busyWork(jitter(50));
    await undefined;
  }
};

const profiled = (work: () => unknown, options: Parameters<typeof startProfile>[0] = {}): Promise<LabelledProfile> =>
  withSamples(LEAST, async () => {
    const running = await startProfile({ everyMs: 0.5, ...options });
    let profile: LabelledProfile;
    try {
      await work();
    } finally {
      profile = running.stop();
    }
    return profile;
  });

const spanShare = (profile: LabelledProfile, { context }: Span): number =>
  Math.min(
    shareOf(profile, 'trace_id', context?.traceId as string),
    shareOf(profile, 'span_id', context?.spanId as string),
  );

afterEach(() => {
  expect(state.labelling).toBeUndefined();
  expect(register.current).toBe(NO_SCOPE);
});

describe.each(carriers)('carrier %s', (carrier) => {
  test('a span that runs', async () => {
    const span = rootSpan();
    const profile = await profiled(() => span.run(() => busyFor(MS)), { carrier });
    expect(spanShare(profile, span)).toBeGreaterThan(MOSTLY);
  });

  test('two traces whose tasks take turns', async () => {
    const [a, b] = [rootSpan(), rootSpan()];
    const profile = await profiled(
      () => Promise.all([a.run(() => busyAcrossAwaits(MS)), b.run(() => busyAcrossAwaits(MS))]),
      { carrier },
    );
    const { all, byValue } = workSamples(profile, 'span_id');
    expect((byValue[''] ?? 0) / all).toBeLessThan(1 - MOSTLY);
    for (const { context } of [a, b]) expect(byValue[context?.spanId as string] / all).toBeGreaterThan(0.3);
  });

  test('a span inside a span', async () => {
    const outer = rootSpan();
    const inner = Span.start('inner', outer);
    const profile = await profiled(() => outer.run(() => inner.run(() => busyFor(MS))), { carrier });
    expect(spanShare(profile, inner)).toBeGreaterThan(MOSTLY);
  });

  test('a span with labels of the user around and inside it', async () => {
    const span = rootSpan();
    const tenant = new DynamicLabel('tenant', 't');
    const query = new DynamicLabel('query', 'q');
    const profile = await profiled(() => tenant.apply(() => span.run(() => query.apply(() => busyFor(MS)))), {
      carrier,
    });
    expect(spanShare(profile, span)).toBeGreaterThan(MOSTLY);
    expect(shareOf(profile, 'tenant', 't')).toBeGreaterThan(MOSTLY);
    expect(shareOf(profile, 'query', 'q')).toBeGreaterThan(MOSTLY);
  });

  test('many spans one after the other, more than there are frames', async () => {
    const root = rootSpan();
    const profile = await profiled(
      () => {
        const end = performance.now() + MS;
        while (performance.now() < end) {
          Span.start('short', root).runToEnd(() => busyWork(jitter(2)));
        }
      },
      { carrier },
    );
    expect(shareOf(profile, 'trace_id', root.context?.traceId as string)).toBeGreaterThan(MOSTLY);
  });
});

test('a function that records itself, and a generator that does', async () => {
  const root = rootSpan();
  const leaf = traced('leaf', async () => busyAcrossAwaits(MS));
  const steps = traced('steps', function* () {
    const end = performance.now() + MS;
    while (performance.now() < end) yield busyWork(jitter(50));
  });
  const profile = await profiled(() =>
    root.run(async () => {
      await leaf();
      for (const _ of steps());
    }),
  );
  const { all, byValue } = workSamples(profile, 'span_id');
  expect(shareOf(profile, 'trace_id', root.context?.traceId as string)).toBeGreaterThan(MOSTLY);
  expect((byValue[root.context?.spanId as string] ?? 0) / all).toBeLessThan(1 - MOSTLY);
});

test.runIf(hasRegister)('a span that is entered, until it is left', async () => {
  const span = rootSpan();
  const profile = await profiled(
    () => {
      const guard = span.enter();
      busyFor(MS);
      guard[Symbol.dispose]();
      busyFor(MS);
    },
    { carrier: 'register' },
  );
  const share = spanShare(profile, span);
  expect(share).toBeGreaterThan(0.3);
  expect(share).toBeLessThan(0.7);
});

test('a span that is entered across an await labels its own task alone, and nothing once it is left', async () => {
  const running = await startProfile();
  const span = rootSpan();
  const own: unknown[] = [];
  const others: Scope[] = [];
  const task = async (): Promise<void> => {
    using _ = span.enter();
    await delay(5);
    own.push(recordOf(register.current)[SPAN_ID_LABEL]);
  };
  await new Promise<void>((resolve) => {
    setImmediate(() => {
      const done = task();
      process.nextTick(() => queueMicrotask(() => others.push(register.current)));
      setImmediate(() => others.push(register.current));
      done.then(() => setImmediate(() => others.push(register.current)).unref());
      done.then(() => setTimeout(resolve, 5));
    });
  });
  running.stop();
  expect(own).toEqual([span.context?.spanId]);
  expect(others).toEqual([NO_SCOPE, NO_SCOPE, NO_SCOPE]);
});

test('deeper than labels may nest, the labels of the user stay', async () => {
  const label = new DynamicLabel('query', 'q');
  const root = rootSpan();
  const nest = (span: Span, depth: number): void =>
    span.run(() => (depth === 0 ? busyFor(MS) : nest(Span.start('deeper', span), depth - 1)));
  const profile = await profiled(
    () => label.apply(() => nest(root, 3 * MAX_DEPTH)),
    hasRegister ? { carrier: 'register' } : {},
  );
  if (hasRegister) expect(shareOf(profile, 'query', 'q')).toBeGreaterThan(MOSTLY);
  expect(shareOf(profile, 'trace_id', root.context?.traceId as string)).toBeGreaterThan(MOSTLY);
});

test('no span of its own: the label around stays', async () => {
  const span = rootSpan();
  const profile = await profiled(() =>
    span.run(() => Span.noop().run(() => Span.startWithLocalParent('x').isRecording && busyFor(MS))),
  );
  expect(spanShare(profile, span)).toBeGreaterThan(MOSTLY);
});

test('results and failures pass as they are, and the label goes with them', async () => {
  const running = await startProfile();
  const span = rootSpan();
  const failure = new Error('x');
  expect(span.run(() => 7)).toBe(7);
  expect(() =>
    span.run(() => {
      throw failure;
    }),
  ).toThrow(failure);
  await expect(
    span.run(async () => {
      throw failure;
    }),
  ).rejects.toBe(failure);
  expect(register.current).toBe(NO_SCOPE);
  const guard = span.enter();
  running.stop();
  guard[Symbol.dispose]();
});

test('without `spans` there are no such labels, and spans run without the profile', async () => {
  const span = rootSpan();
  const profile = await profiled(
    () => {
      expect(state.labelling).toBeUndefined();
      span.run(() => busyFor(MS));
    },
    { spans: false },
  );
  expect(workSamples(profile, 'span_id').byValue).toEqual({ '': expect.any(Number) });
});

test('where tracing is switched off, spans are not labelled unless that is asked for', async () => {
  state.enabled = false;
  try {
    const running = await startProfile();
    expect(state.labelling).toBeUndefined();
    running.stop();
  } finally {
    state.enabled = true;
  }
});

test('the frames of labels are not in the graph', async () => {
  const span = rootSpan();
  const { nodes } = await profiled(() => span.run(() => busyFor(MS)));
  expect(nodes.functionName.filter((name) => name === 'runInSpan' || name === 'runInFrame')).toEqual([]);
});
