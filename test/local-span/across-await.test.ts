// Local spans held across awaits in concurrent branches of one task: every span is recorded once, its parent is a span
// that was open when it started, and the misuse is counted.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { LocalSpan } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('interleaved branches', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const branch = async (name: string, steps: number): Promise<void> => {
    for (let i = 0; i < steps; i++) {
      const outer = LocalSpan.start(`${name}${i}`);
      await (i % 2 ? null : sleep(1));
      LocalSpan.start(`${name}${i} inner`).end();
      await null;
      outer.end();
    }
  };
  const changes = await counted(() => span.run(() => Promise.all([branch('a', 20), branch('b', 20), branch('c', 7)])));
  span.end();
  await collector.flush();

  const { spans } = memory;
  expect(spans.length).toBe(1 + 2 * 47);
  const byId = new Map(spans.map((one) => [one.spanId, one]));
  expect(byId.size).toBe(spans.length);
  for (const one of spans) {
    if (one.name === 'root') continue;
    const parent = byId.get(one.parentSpanId);
    expect(parent, one.name).toBeDefined();
    expect(parent!.startUnixNs <= one.startUnixNs, `${one.name} starts in its parent`).toBe(true);
    expect(parent!.endUnixNs >= one.startUnixNs, `${one.name} starts while its parent is open`).toBe(true);
  }
  expect(changes.localSpansClosedOutOfOrder).toBeGreaterThan(0);
  expect(Object.keys(changes)).toEqual(['localSpansClosedOutOfOrder']);
});

test('a span that outlives the task ends with it, counted, and its handle can do nothing', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  let buffered = LocalSpan.start('none');
  const changes = await counted(async () => {
    await span.run(async () => {
      buffered = LocalSpan.start('held');
      await sleep(1);
    });
    buffered.addProperty('late', 1).addEvent('late');
    buffered.end();
  });
  span.end();
  await collector.flush();
  expect(changes).toEqual({ localSpansLeftOpen: 1, changedAfterEnd: 2, staleHandles: 1 });
  expect(memory.tree()).toBe('root\n  held');
  expect(memory.find('held')?.propertyList).toBe(null);
});
