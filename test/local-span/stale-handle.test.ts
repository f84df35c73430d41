// A handle does nothing once its span ended or its queue was handed over: no change, no throw, one count.
import { expect, test } from 'vitest';
import { LocalSpan } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('a second end, and changes after the end', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const changes = await counted(() =>
    span.run(() => {
      using _outer = LocalSpan.start('outer');
      const a = LocalSpan.start('a');
      expect(a.isRecording).toBe(true);
      a.end();
      expect(a.isRecording).toBe(false);
      a.end();
      a[Symbol.dispose]();
      a.addProperty('late', 1).addProperties({ later: 2 }).addEvent('late');
    }),
  );
  span.end();
  await collector.flush();
  expect(changes).toEqual({ endedTwice: 2, changedAfterEnd: 3 });
  expect(memory.find('a')?.properties).toEqual({});
  expect(memory.find('a')?.events).toEqual([]);
  expect(memory.tree()).toBe('root\n  outer\n    a');
});

test('a handle of an earlier epoch does not touch the spans that took its place', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  let stale = LocalSpan.start('none');
  span.run(() => {
    stale = LocalSpan.start('first');
    stale.end();
  });
  const other = root('other');
  const changes = await counted(() =>
    other.run(() => {
      using second = LocalSpan.start('second');
      stale.addProperty('wrong', true);
      stale.end();
      expect(second.isRecording).toBe(true);
    }),
  );
  span.end();
  other.end();
  await collector.flush();
  expect(changes).toEqual({ changedAfterEnd: 1, staleHandles: 1 });
  expect(memory.find('second')?.properties).toEqual({});
});

test('a second end after the end of the span around it is one of a stale handle, also while the code of that goes on', async () => {
  const { root } = recorder();
  const span = root('root');
  const changes = await counted(() =>
    span.run(async () => {
      await null;
      const local = LocalSpan.start('local');
      local.end();
      span.end();
      local.end();
    }),
  );
  expect(changes).toEqual({ staleHandles: 1 });
});
