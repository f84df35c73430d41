// A cancelled root takes its whole trace along: what finished, what is open, what comes late; each span is counted.
import { expect, test } from 'vitest';
import { LocalSpan, Span } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('nothing of a cancelled trace is reported, before or after', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const [early, late] = [Span.start('early', span), Span.start('late', span)];
  early.end();
  const changes = await counted(async () => {
    await span.run(async () => {
      LocalSpan.start('before').end();
      span.cancel();
      LocalSpan.start('after').end();
      await null;
      LocalSpan.start('later').end();
    });
    late.run(() => LocalSpan.start('late local').end());
    late.end();
    span.end();
    Span.start('new', span).end();
    await collector.flush();
  });
  expect(memory.spans).toEqual([]);
  expect(changes).toEqual({ tracesCancelled: 1, spansOfDiscardedTraces: 8 });
  expect(collector.stats()).toMatchObject({ openTraces: 0, openBytes: 0, readyTraces: 0 });
});

test('only an open root can be cancelled', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const child = Span.start('child', span);
  const changes = await counted(() => {
    child.cancel();
    child.end();
    span.end();
    span.cancel();
  });
  expect(changes).toEqual({ cancelOnNonRoot: 1, changedAfterEnd: 1 });
  expect(await tree()).toBe('root\n  child');
});

test('other traces are not touched', async () => {
  const { root, tree } = recorder();
  const [a, b] = [root('a'), root('b')];
  a.cancel();
  a.cancel();
  a.end();
  b.end();
  expect(await tree()).toBe('b');
});
