// With `auto` a program without asynchronous scopes has no promise hooks; the first of them brings the hooks, and its labels last.
import { expect, test } from 'vitest';
import { Span } from '../../../src/span/span.js';
import { continuousProfiler, DynamicLabel, ProfileError, startProfile } from '../src/index.js';
import { register } from '../src/shared-state.js';
import { busyAcrossAwaits, busyWork, expectAll, jitter, withSamples } from './support/busy-work.js';
import { carriers } from './support/carriers.js';

/** Asynchronous scopes of a label. */
const SCOPES: Readonly<Record<string, (label: DynamicLabel, fn: () => Promise<void>) => Promise<void>>> = {
  run: (label, fn) => label.run(fn),
  'a bound asynchronous function': (label, fn) => label.bind(fn)(),
};

test.each(carriers)('carrier %s: spans, apply and coroutines need no hooks', async (carrier) => {
  const running = await startProfile({ carrier, continuations: 'auto' });
  const label = new DynamicLabel('query', 'q1');
  const root = Span.root('root');
  await root.run(async () => {
    await undefined;
    label.apply(() => undefined);
  });
  root.end();
  await label.coroutine(function* () {
    yield undefined;
  })();
  expect(register.follow).toBeTypeOf('function');
  running.stop();
  expect(register.follow).toBeUndefined();
});

test.each(carriers.flatMap((carrier) => Object.keys(SCOPES).map((scope) => [carrier, scope] as const)))(
  'carrier %s, %s: the label lasts over awaits',
  async (carrier, scope) => {
    const taken = await withSamples(100, async (cpuMs) => {
      const running = await startProfile({ everyMs: 0.5, carrier, continuations: 'auto' });
      const label = new DynamicLabel('query', 'q1');
      const work = async (): Promise<void> => {
        await undefined;
        busyWork(jitter(50));
        await undefined;
        busyWork(jitter(50));
      };
      await busyAcrossAwaits(cpuMs, () => SCOPES[scope](label, work));
      return running.stop();
    });
    expectAll(taken, 'query', 'q1');
  },
);

test('a profile for life waits with hooks since Node 24, and one on demand never', async () => {
  const profiler = await continuousProfiler({ sink: () => undefined });
  expect(register.follow !== undefined).toBe(Number.parseInt(process.versions.node, 10) >= 24);
  await profiler.stop();
  const running = await startProfile();
  expect(register.follow).toBeUndefined();
  running.stop();
});

test('any other word is refused', async () => {
  const failure = startProfile({ continuations: 'always' as 'auto' });
  await expect(failure).rejects.toThrow(/continuations is always; give true, false or 'auto'/);
  await expect(failure).rejects.toBeInstanceOf(ProfileError);
});
