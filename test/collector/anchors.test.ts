// How ticks of a trace become Unix time: by one reading of both clocks for all its parts, however late they come, so that a step of the system
// clock cannot tear it.
import { expect, onTestFinished, test, vi } from 'vitest';
import { NativeClockState } from '../../src/clock/clock.js';
import { clockInfo } from '../../src/clock/index.js';
import type { TracePart } from '../../src/collector/trace-part.js';
import { Collector, type CollectorOptions, type Reporter, Span, SpanContext } from '../../src/index.js';
import { observerWith } from '../support/observer.js';
import { recorder } from '../support/recorder.js';

/** A collector, and the number of the anchor of each part: the same for parts that go by the same one. */
const reporting = (options: CollectorOptions = {}) => {
  const parts: TracePart[] = [];
  const reporter: Reporter = { name: 'parts', report: ({ traces }) => void parts.push(...(traces as TracePart[])) };
  const collector = new Collector(options);
  collector.setReporter(reporter);
  return { collector, numbers: () => parts.map(({ anchor }) => parts.findIndex((one) => one.anchor === anchor)) };
};

const endEach = async (collector: Collector, spans: readonly Span[]): Promise<void> => {
  for (const span of spans) {
    span.end();
    await collector.flush();
  }
};

const others = async (collector: Collector): Promise<void> => {
  Span.root('other', undefined, { collector }).end();
  await collector.flush();
};

test('parts that come one after the other', async () => {
  const { collector, numbers } = reporting();
  const root = Span.root('root', undefined, { collector });
  const children = [1, 2, 3].map(() => Span.start('child', root));
  await endEach(collector, [root, ...children]);
  expect(numbers()).toEqual([0, 0, 0, 0]);
});

test('a part that comes hundreds of reports later', async () => {
  const { collector, numbers } = reporting();
  const root = Span.root('root', undefined, { collector });
  const late = Span.start('late', root);
  await endEach(collector, [root]);
  for (let i = 0; i < 300; i++) await others(collector);
  await endEach(collector, [late]);
  const all = numbers();
  expect([all[0], all.at(-1)]).toEqual([0, 0]);
});

test('parts of an open trace, and what comes when its root has ended', async () => {
  const { collector, numbers } = reporting({ reportOpenTraces: true });
  const root = Span.root('root', undefined, { collector });
  const [first, second, late] = [1, 2, 3].map(() => Span.start('child', root));
  await endEach(collector, [first, second, root, late]);
  expect(numbers()).toEqual([0, 0, 0, 0]);
});

test('parts of a root that was evicted before it had a span', async () => {
  const { collector, numbers } = reporting({ reportOpenTraces: true, maxOpenTraces: 1 });
  const root = Span.root('root', undefined, { collector });
  const children = [1, 2, 3].map(() => Span.start('child', root));
  Span.root('newer', undefined, { collector });
  await others(collector);
  await endEach(collector, [...children, root]);
  expect(numbers()).toEqual([0, 1, 1, 1, 1]);
});

test('what the observer takes before the report of a trace changes nothing of it', async () => {
  const { collector, numbers } = reporting();
  collector.observeWith(observerWith());
  const root = Span.root('root', undefined, { collector });
  const late = Span.start('late', root);
  root.end();
  Span.root('unsampled', SpanContext.random({ sampled: false }), { collector }).end();
  collector.observeNow();
  await collector.flush();
  await endEach(collector, [late]);
  expect(numbers()).toEqual([0, 0]);
});

test.skipIf(clockInfo().path === 'js')(
  'the length of a tick is measured before it is read, and neither where nothing waits',
  async () => {
    const { root, collector } = recorder();
    root('root').end();
    const check = vi.spyOn(NativeClockState.prototype, 'check');
    const anchor = vi.spyOn(NativeClockState.prototype, 'anchor');
    onTestFinished(() => void vi.restoreAllMocks());
    await collector.flush();
    await collector.flush();
    const [checked, taken] = [check, anchor].map(({ mock }) => mock.invocationCallOrder);
    expect([checked.length, taken.length]).toEqual([1, 1]);
    expect(checked[0]).toBeLessThan(taken[0]);
  },
);
