// Pooled memory does not keep the values of the traced program alive after its trace was reported.
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Collector, LocalSpan, Span } from '../../src/index.js';

test('a property array can be collected once its trace is gone', async () => {
  const collector = new Collector();
  collector.setReporter({ name: 'nowhere', report() {} });
  const record = (): WeakRef<object>[] => {
    const list = ['large'];
    const properties = { list };
    const span = Span.root('root', undefined, { collector });
    span.run(() => LocalSpan.start('a').addProperty('list', list).addEvent('e', properties).end());
    span.end();
    return [new WeakRef(list), new WeakRef(properties)];
  };
  const refs = record();
  await collector.flush();
  for (let i = 0; i < 5; i++) {
    await setImmediate();
    globalThis.gc?.();
  }
  expect(refs.map((ref) => ref.deref())).toEqual([undefined, undefined]);
});
