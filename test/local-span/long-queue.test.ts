// One queue holds 20,000 spans, flat or nested, without loss; beyond the cap of the trace it says how many it refused.
import { expect, test } from 'vitest';
import { LocalSpan } from '../../src/index.js';
import { useOwnNames } from '../support/names.js';
import { counted, recorder } from '../support/recorder.js';

const N = 20_000;
useOwnNames();

test('20,000 siblings', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  span.run(() => {
    for (let i = 0; i < N; i++) LocalSpan.start(`s${i}`).addProperty('i', i).end();
  });
  span.end();
  await collector.flush();
  expect(memory.spans.length).toBe(N + 1);
  expect(new Set(memory.spans.map((one) => one.spanId)).size).toBe(N + 1);
  const rootId = memory.find('root')?.spanId;
  memory.spans.slice(1).forEach((one, i) => {
    if (one.name !== `s${i}` || one.parentSpanId !== rootId || one.properties.i !== i) expect.fail(`span ${i}`);
  });
});

test('20,000 levels deep, and the same queue used again after it was emptied', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const open: LocalSpan[] = [];
  span.run(() => {
    for (let i = 0; i < N; i++) open.push(LocalSpan.start(`s${i}`));
    while (open.length > 0) open.pop()?.end();
    LocalSpan.start('after').end();
  });
  span.end();
  await collector.flush();
  const byName = new Map(memory.spans.map((one) => [one.name, one]));
  expect(byName.size).toBe(N + 2);
  for (let i = 1; i < N; i++) {
    const [parent, child] = [byName.get(`s${i - 1}`), byName.get(`s${i}`)];
    if (child?.parentSpanId !== parent?.spanId) expect.fail(`level ${i}`);
    if (child!.endUnixNs > parent!.endUnixNs) expect.fail(`level ${i} ends after its parent`);
  }
  expect(byName.get('after')?.parentSpanId).toBe(byName.get('root')?.spanId);
});

test.each([1, 100, 128, 1000, 1024])('a cap of %i spans keeps the first ones and counts the others', async (cap) => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: cap });
  const span = root('root');
  const changes = await counted(() => {
    span.run(() => {
      for (let i = 0; i < 2000; i++) {
        using _outer = LocalSpan.start(`outer${i}`);
        LocalSpan.start('inner').addProperty('i', i).end();
      }
    });
    span.end();
  });
  await collector.flush();
  expect(memory.spans.length).toBe(cap + 1);
  const ids = new Set(memory.spans.map((one) => one.spanId));
  for (const one of memory.spans) if (one.name !== 'root') expect(ids).toContain(one.parentSpanId);
  const refused = (changes.localSpansOverCap ?? 0) + (changes.spansOverTraceCap ?? 0);
  expect(refused).toBe(4000 - cap);
  expect(Object.keys(changes).filter((key) => !/OverCap|OverTraceCap/.test(key))).toEqual([]);
});
