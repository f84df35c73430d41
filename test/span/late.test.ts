// Spans, events, properties and local spans that come after the end of their root are reported in its trace.
import { expect, test } from 'vitest';
import { LocalSpan, Span } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('a child that outlives its root has its events and properties, reported or not', async () => {
  for (const isReportedFirst of [false, true]) {
    const { root, memory, collector } = recorder();
    const span = root('root');
    const child = Span.start('child', span);
    span.end();
    if (isReportedFirst) await collector.flush();
    child.addProperty('p', 1).addEvent('e').setStatus('error', 'bad').recordException(new TypeError('t'));
    child.run(() => LocalSpan.start('local').addProperty('q', 2).addEvent('f').end());
    Span.start('grandchild', child).end();
    const changes = await counted(() => child.end());
    expect(changes).toEqual(isReportedFirst ? { spansLate: 1 } : {});
    await collector.flush();
    expect(memory.traces.length).toBe(1);
    expect(memory.tree()).toBe('root\n  child\n    local\n    grandchild');
    const record = memory.find('child');
    expect(record?.properties).toEqual({ p: 1 });
    expect(record?.events.map((event) => event.name)).toEqual(['e', 'exception']);
    expect(record?.events[1].properties).toMatchObject({ 'exception.type': 'TypeError', 'exception.message': 't' });
    expect(record?.status).toEqual({ code: 'error', message: 'bad' });
    expect(memory.find('local')?.events.map((event) => event.name)).toEqual(['f']);
  }
});

test('after the end of a span changes to it are refused and counted', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  span.end();
  const changes = await counted(() => {
    span
      .addProperty('k', 1)
      .addProperties(() => ({ k: 1 }))
      .addEvent('e')
      .setStatus('ok')
      .recordException(1);
    span.addLink(root('other')).end();
    span.end();
    span.cancel();
  });
  expect(changes).toEqual({ changedAfterEnd: 7, endedTwice: 2, tracesStarted: 1 });
  await collector.flush();
  expect(memory.find('root')).toMatchObject({ propertyList: null, events: [], links: [], status: { code: 'unset' } });
});

test('parts reported late say so, and keep the anchor of the trace', async () => {
  const { root, memory, collector } = recorder();
  const flags: boolean[] = [];
  collector.setReporter([
    memory,
    {
      name: 'flags',
      report: (batch) => {
        flags.push(...batch.traces.map((one) => one.isContinuation));
      },
    },
  ]);
  const span = root('root');
  const child = Span.start('child', span);
  span.end();
  await collector.flush();
  child.end();
  await collector.flush();
  expect(flags).toEqual([false, true]);
  expect(memory.find('child')!.startUnixNs >= memory.find('root')!.startUnixNs).toBe(true);
});
