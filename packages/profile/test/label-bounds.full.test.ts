// More labels than a profile could know cost no memory beyond the bound of its table, and no sample its label.
import { describe, expect, test } from 'vitest';
import { DynamicLabel, startProfile, stats } from '../src/index.js';
import { MAX_SCOPES } from '../src/label-table.js';
import { busyFor, expectAll, withSamples } from './support/busy-work.js';
import { carriers, hasRegister } from './support/carriers.js';

describe.each(carriers)('carrier %s', (carrier) => {
  test('labels over time are kept within the bound of the table', async () => {
    const running = await startProfile({ everyMs: 1, carrier });
    const labels: WeakRef<DynamicLabel>[] = [];
    for (let i = 0; i < 1.5 * MAX_SCOPES; i++) {
      using label = new DynamicLabel('query', i);
      label.apply(() => i);
      labels.push(new WeakRef(label));
    }
    // What a weak reference was made for in a turn of the event loop lives as long as the turn.
    await new Promise(setImmediate);
    globalThis.gc?.();
    // Those that the table knows, and one that the loop may have left on the stack.
    expect(labels.filter((each) => each.deref() !== undefined).length).toBeLessThanOrEqual(MAX_SCOPES + 1);
    running.stop();
  });
});

test.runIf(hasRegister)('more labels than the table holds: those that were sampled are kept', async () => {
  const forever = new DynamicLabel('query', 'around');
  const taken = await withSamples(1, async (cpuMs) => {
    const running = await startProfile({ everyMs: 0.5, carrier: 'register' });
    forever.apply(() => {
      for (let i = 0; i < 2 * MAX_SCOPES; i++) new DynamicLabel('node', i).apply(() => i);
      busyFor(cpuMs);
    });
    return running.stop();
  });
  expect(taken.counts).toMatchObject({ lost: 0, overflow: 0 });
  expectAll(taken, 'query', 'around');
});

test.skipIf(!hasRegister)(
  'no sample is lost among more labels than a profile could know, one inside the other',
  async () => {
    using outer = new DynamicLabel('query', 'outer');
    const before = stats().counters.labelsOverCap;
    const running = await startProfile({ everyMs: 0.5, carrier: 'register' });
    outer.apply(() => {
      for (let i = 0; i < 2 * MAX_SCOPES; i++) {
        JSON.parse('[1, 2, 3]');
        using inner = new DynamicLabel('part', i % 7);
        inner.apply(() => JSON.parse('[4, 5, 6]'));
      }
    });
    const taken = running.stop();
    expect(new Set(taken.labels.flatMap(({ query }) => query ?? []))).toEqual(new Set(['outer']));
    expect(taken.counts.labelled).toBeGreaterThan(0);
    expect(taken.counts).toMatchObject({ lost: 0, overflow: 0 });
    expect(stats().counters.labelsOverCap).toBe(before);
  },
);
