// A local span is the child of the innermost one open, else of the Span that runs the task; events and properties go to
// the innermost one open.
import { expect, test } from 'vitest';
import { LocalSpan, Span } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

test('nesting and siblings', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => {
    {
      using _a = LocalSpan.start('a');
      LocalSpan.start('b').end();
      using _c = LocalSpan.start('c');
      LocalSpan.start('d').end();
    }
    LocalSpan.start('e').end();
  });
  span.end();
  expect(await tree()).toBe('root\n  a\n    b\n    c\n      d\n  e');
});

test('a cross-async span started inside a local span is its child, and local spans inside are its own', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => {
    using _a = LocalSpan.start('a');
    const inner = Span.startWithLocalParent('inner');
    inner.run(() => LocalSpan.start('b').end());
    inner.end();
    LocalSpan.start('c').end();
  });
  span.end();
  expect(await tree()).toBe('root\n  a\n    inner\n      b\n    c');
});

test('static methods speak to the innermost open local span, then to the Span', async () => {
  const { root, memory, tree } = recorder();
  const span = root('root');
  span.run(() => {
    LocalSpan.addProperty('at', 'root');
    LocalSpan.addEvent('root event');
    {
      using _a = LocalSpan.start('a');
      using _b = LocalSpan.start('b');
      LocalSpan.addProperty('at', 'b');
      LocalSpan.addProperties(() => ({ n: 7n, list: [1, 2] }));
      LocalSpan.addEvent('b event', { size: 3 });
    }
    LocalSpan.addProperties({ more: true });
  });
  span.end();
  await tree();
  expect(memory.find('root')?.properties).toEqual({ at: 'root', more: true });
  expect(memory.find('root')?.events.map((event) => event.name)).toEqual(['root event']);
  expect(memory.find('a')?.properties).toEqual({});
  expect(memory.find('b')?.properties).toEqual({ at: 'b', n: 7n, list: [1, 2] });
  expect(memory.find('b')?.events.map((event) => [event.name, event.properties])).toEqual([['b event', { size: 3 }]]);
});

test('a later value of a key wins, and events are in order inside their span', async () => {
  const { root, memory, tree } = recorder();
  const span = root('root');
  span.run(() => {
    using a = LocalSpan.start('a');
    a.addProperty('k', 1).addProperty('other', 'x').addProperty('k', 2).addEvent('one').addEvent('two');
  });
  span.end();
  await tree();
  const a = memory.find('a');
  expect(a?.propertyList).toEqual(['k', 2, 'other', 'x']);
  expect(a?.events.map((event) => event.name)).toEqual(['one', 'two']);
  const times = [a?.startUnixNs, ...(a?.events.map((event) => event.timeUnixNs) ?? []), a?.endUnixNs] as bigint[];
  expect([...times].sort((x, y) => (x < y ? -1 : 1))).toEqual(times);
});
