// After local spans were closed out of order the next one still hangs under the innermost one that is open, and the
// misuse is counted.
import { expect, test } from 'vitest';
import { LocalSpan } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('a parent closed before its child', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const changes = await counted(() =>
    span.run(() => {
      const a = LocalSpan.start('a');
      const b = LocalSpan.start('b');
      a.end();
      LocalSpan.start('under b').end();
      b.end();
      LocalSpan.start('under root').end();
    }),
  );
  span.end();
  expect(await tree()).toBe('root\n  a\n    b\n      under b\n  under root');
  expect(changes).toEqual({ localSpansClosedOutOfOrder: 1 });
});

test('a whole stack closed from the outside in', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const changes = await counted(() =>
    span.run(() => {
      const stack = ['a', 'b', 'c', 'd'].map((name) => LocalSpan.start(name));
      for (const one of stack) one.end();
      LocalSpan.start('after').end();
    }),
  );
  span.end();
  expect(await tree()).toBe('root\n  a\n    b\n      c\n        d\n  after');
  expect(changes).toEqual({ localSpansClosedOutOfOrder: 3 });
});

test('order restored in the middle: the parent is the innermost open ancestor', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => {
    const a = LocalSpan.start('a');
    const b = LocalSpan.start('b');
    const c = LocalSpan.start('c');
    b.end();
    c.end();
    LocalSpan.start('under a').end();
    a.end();
    LocalSpan.start('under root').end();
  });
  span.end();
  expect(await tree()).toBe('root\n  a\n    b\n      c\n    under a\n  under root');
});
