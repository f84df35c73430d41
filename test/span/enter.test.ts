// span.enter() makes a span the local parent for a stretch of code; guards left in any order, or twice, give back the
// context that was there before.
import { expect, test } from 'vitest';
import { LocalSpan, Span, SpanContext } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

test('scopes nest', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const inner = Span.start('inner', span);
  {
    using _outerScope = span.enter();
    LocalSpan.start('a').end();
    {
      using _innerScope = inner.enter();
      LocalSpan.start('b').end();
    }
    LocalSpan.start('c').end();
  }
  expect(Span.current()).toBeUndefined();
  inner.end();
  span.end();
  expect(await tree()).toBe('root\n  inner\n    b\n  a\n  c');
});

test('scopes left in the wrong order do not bring a left one back', () => {
  const { root } = recorder();
  const spans = ['a', 'b', 'c', 'd'].map((name) => root(name));
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [2, 0, 3, 1],
    [0, 2, 1, 3],
  ]) {
    const guards = spans.map((span) => span.enter());
    const left = new Set<number>();
    for (const i of order) {
      guards[i][Symbol.dispose]();
      guards[i][Symbol.dispose]();
      left.add(i);
      const innermost = [3, 2, 1, 0].find((one) => !left.has(one));
      expect(Span.current(), `${order} after ${i}`).toBe(innermost === undefined ? undefined : spans[innermost]);
    }
  }
});

test('no-op and unsampled spans', () => {
  {
    using _noop = Span.noop().enter();
    expect(Span.current()).toBeUndefined();
  }
  const { root } = recorder();
  const unsampled = root('root', SpanContext.random({ sampled: false }));
  {
    using _scope = unsampled.enter();
    expect(Span.current()?.context?.sampled).toBe(false);
    expect(LocalSpan.start('a').isRecording).toBe(false);
  }
  expect(Span.current()).toBeUndefined();
});

test("a guard disposed inside another span's run: what follows belongs to what is around the guard", async () => {
  const { root, memory, collector } = recorder();
  const [outer, entered, other] = [root('outer'), root('entered'), root('other')];
  const leaveInside = (): void => {
    const guard = entered.enter();
    LocalSpan.start('in scope').end();
    other.run(() => {
      guard[Symbol.dispose]();
      expect(Span.current()).toBe(other);
      LocalSpan.start('in other').end();
    });
  };
  leaveInside();
  expect(Span.current()).toBeUndefined();
  expect(Span.startWithLocalParent('nowhere')).toBe(Span.noop());
  await outer.run(async () => {
    leaveInside();
    expect(Span.current()).toBe(outer);
    LocalSpan.start('after').end();
    const guard = entered.enter();
    await other.run(async () => {
      await null;
      guard[Symbol.dispose]();
    });
    expect(Span.current()).toBe(outer);
    LocalSpan.start('after an await').end();
  });
  const unsampled = root('unsampled', SpanContext.random({ sampled: false }));
  outer.run(() => {
    const guard = unsampled.enter();
    other.run(() => guard[Symbol.dispose]());
    expect(Span.current()).toBe(outer);
    LocalSpan.start('after unsampled').end();
  });
  for (const span of [outer, entered, other]) span.end();
  await collector.flush();
  expect(memory.tree()).toBe(
    'outer\n  after\n  after an await\n  after unsampled\nentered\n  in scope\n  in scope\nother\n  in other\n  in other',
  );
});

test('the end of a span in its own scope hands over what the scope has', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  // A scope belongs to one synchronous stretch: what waits for an await in it would go on inside, this test and those behind it.
  const endInside = async (): Promise<void> => {
    await null;
    using _scope = span.enter();
    LocalSpan.start('before').end();
    span.end();
    await collector.flush();
    expect(memory.tree()).toBe('root\n  before');
    LocalSpan.start('after').end();
  };
  await endInside();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  before\n  after');
  expect(Span.current()).toBeUndefined();
});
