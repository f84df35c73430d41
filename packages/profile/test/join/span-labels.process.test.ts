// While a profile is taken, samples bear the ids of the trace and span they worked for; before and after it, spans run as ever.
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { state } from '../../../../src/context/process-state.js';
import { Span, SpanContext, traced } from '../../../../src/index.js';
import { DynamicLabel, type LabelledProfile, SPAN_ID_LABEL, startProfile } from '../../src/index.js';
import { MAX_DEPTH, recordOf } from '../../src/scope.js';
import { NO_SCOPE, register, type Scope } from '../../src/shared-state.js';
import {
  busyAcrossAwaits,
  busyFor,
  busyWork,
  expectAll,
  expectShares,
  jitter,
  withSamples,
  workSamples,
} from '../support/busy-work.js';
import { carriers, hasRegister } from '../support/carriers.js';
import { gathering } from './support/traced-work.js';

const MIN = 50;

const { collector } = gathering();
const rootSpan = (): Span => Span.root('root', SpanContext.random(), { collector });

/** The same work, counted for `name`. */
const counted = (done: Map<string, number>, name: string | undefined, units: number): void => {
  if (name !== undefined) done.set(name, (done.get(name) ?? 0) + units);
  busyWork(units);
};

const profiled = (
  work: (cpuMs: number) => unknown,
  options: Parameters<typeof startProfile>[0] = {},
): Promise<LabelledProfile> =>
  withSamples(MIN, async (cpuMs) => {
    const running = await startProfile({ everyMs: 0.5, ...options });
    let profile: LabelledProfile;
    try {
      await work(cpuMs);
    } finally {
      profile = running.stop();
    }
    return profile;
  });

const expectSpan = (profile: LabelledProfile, { context }: Span): void => {
  expectAll(profile, 'trace_id', context?.traceId as string);
  expectAll(profile, 'span_id', context?.spanId as string);
};

afterEach(() => {
  expect(state.labelling).toBeUndefined();
  expect(register.current).toBe(NO_SCOPE);
});

describe.each(carriers)('carrier %s', (carrier) => {
  test('a span that runs', async () => {
    const span = rootSpan();
    const profile = await profiled((cpuMs) => span.run(() => busyFor(cpuMs)), { carrier });
    expectSpan(profile, span);
  });

  test('two traces whose tasks take turns', async () => {
    const [a, b] = [rootSpan(), rootSpan()];
    let done = new Map<string, number>();
    const task = (span: Span, cpuMs: number): Promise<void> =>
      span.run(() => busyAcrossAwaits(cpuMs, () => counted(done, span.context?.spanId, jitter(50))));
    const profile = await profiled(
      (cpuMs) => {
        done = new Map();
        return Promise.all([task(a, cpuMs), task(b, cpuMs)]);
      },
      { carrier },
    );
    expectShares(profile, 'span_id', done);
  });

  test('a span inside a span', async () => {
    const outer = rootSpan();
    const inner = Span.start('inner', outer);
    const profile = await profiled((cpuMs) => outer.run(() => inner.run(() => busyFor(cpuMs))), { carrier });
    expectSpan(profile, inner);
  });

  test('a span with labels of the user around and inside it', async () => {
    const span = rootSpan();
    const tenant = new DynamicLabel('tenant', 't');
    const query = new DynamicLabel('query', 'q');
    const profile = await profiled((cpuMs) => tenant.apply(() => span.run(() => query.apply(() => busyFor(cpuMs)))), {
      carrier,
    });
    expectSpan(profile, span);
    expectAll(profile, 'tenant', 't');
    expectAll(profile, 'query', 'q');
  });

  test('many spans one after the other, more than there are frames', async () => {
    const root = rootSpan();
    const profile = await profiled(
      (cpuMs) => busyFor(cpuMs, () => Span.start('short', root).runToEnd(() => void busyWork(jitter(20)))),
      { carrier },
    );
    expectAll(profile, 'trace_id', root.context?.traceId as string);
  });
});

test('a function that records itself, and a generator that does', async () => {
  const root = rootSpan();
  const leaf = traced('leaf', async (cpuMs: number) => busyAcrossAwaits(cpuMs));
  const steps = traced('steps', function* (cpuMs: number) {
    const pieces: number[] = [];
    busyFor(cpuMs, () => void pieces.push(busyWork(jitter(50))));
    yield pieces.length;
    busyFor(cpuMs);
  });
  const profile = await profiled((cpuMs) =>
    root.run(async () => {
      await leaf(cpuMs);
      for (const _ of steps(cpuMs));
    }),
  );
  expectAll(profile, 'trace_id', root.context?.traceId as string);
  // Nothing is the work of the root itself.
  expect(workSamples(profile, 'span_id').byValue[root.context?.spanId as string]).toBeUndefined();
});

test.runIf(hasRegister)('a span that is entered, until it is left', async () => {
  const span = rootSpan();
  const outside = new DynamicLabel('span_id', 'outside');
  let done = new Map<string, number>();
  const profile = await profiled(
    (cpuMs) => {
      done = new Map();
      const guard = span.enter();
      busyFor(cpuMs, () => counted(done, span.context?.spanId, jitter(50)));
      guard[Symbol.dispose]();
      busyFor(cpuMs, () => outside.apply(() => counted(done, 'outside', jitter(50))));
    },
    { carrier: 'register' },
  );
  expectShares(profile, 'span_id', done);
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
  const nest = (span: Span, depth: number, cpuMs: number): void =>
    span.run(() => (depth === 0 ? busyFor(cpuMs) : nest(Span.start('deeper', span), depth - 1, cpuMs)));
  const profile = await profiled(
    (cpuMs) => label.apply(() => nest(root, 3 * MAX_DEPTH, cpuMs)),
    hasRegister ? { carrier: 'register' } : {},
  );
  if (hasRegister) expectAll(profile, 'query', 'q');
  expectAll(profile, 'trace_id', root.context?.traceId as string);
});

test('no span of its own: the label around stays', async () => {
  const span = rootSpan();
  const profile = await profiled((cpuMs) =>
    span.run(() => Span.noop().run(() => Span.startWithLocalParent('x').isRecording && busyFor(cpuMs))),
  );
  expectSpan(profile, span);
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
    (cpuMs) => {
      expect(state.labelling).toBeUndefined();
      span.run(() => busyFor(cpuMs));
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
  const { nodes } = await profiled((cpuMs) => span.run(() => busyFor(cpuMs)));
  expect(nodes.functionName.filter((name) => name === 'runInSpan' || name === 'runInFrame')).toEqual([]);
});
