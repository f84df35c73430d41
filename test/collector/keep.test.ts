// keep(trace) decides about whole traces before they are reported; late spans follow; a hook that throws keeps.
import { expect, test } from 'vitest';
import { LocalSpan, Span, type Trace } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

test('it sees the whole trace, and its late spans follow the decision', async () => {
  const seen: unknown[] = [];
  const keep = (trace: Trace): boolean => {
    const { root, spanCount, hasError, durationNs, traceId } = trace;
    seen.push([root?.name, spanCount, hasError, durationNs === root?.durationNs, traceId.length]);
    return trace.spans[0].name !== 'drop';
  };
  const { root, memory, collector } = recorder({ keep });
  const [kept, dropped] = [root('kept'), root('drop')];
  const [late, lateDropped] = [Span.start('late', kept), Span.start('late', dropped)];
  dropped.run(() => LocalSpan.start('local').end());
  Span.start('child', kept).setStatus('error').end();
  kept.end();
  dropped.end();
  const changes = await counted(async () => {
    await collector.flush();
    late.end();
    lateDropped.end();
    await collector.flush();
  });
  expect(memory.tree()).toBe('kept\n  late\n  child');
  expect(seen).toEqual([
    ['kept', 2, true, true, 32],
    ['drop', 2, false, true, 32],
  ]);
  expect(changes).toEqual({ tracesNotKept: 1, spansOfDiscardedTraces: 3, spansLate: 1 });
});

test('one that throws keeps, counted', async () => {
  const { root, tree } = recorder({
    keep: () => {
      throw new Error('keep');
    },
  });
  root('root').end();
  expect(await counted(async () => expect(await tree()).toBe('root'))).toEqual({ callbackErrors: 1 });
});

test('only false drops', async () => {
  const { root, tree } = recorder({ keep: () => undefined as unknown as boolean });
  root('root').end();
  expect(await tree()).toBe('root');
});

test('an answer that is not true or false is counted, and keeps the trace', async () => {
  for (const value of [Promise.resolve(false), Promise.reject(new Error('nobody hears of this')), 0, undefined]) {
    const { root, tree } = recorder({ keep: () => value as unknown as boolean });
    root('root').end();
    expect(await counted(async () => expect(await tree()).toBe('root'))).toEqual({ argumentsInvalid: 1 });
  }
});

test('a span that ends while keep is asked about its trace goes the way of the trace, and so do those behind it', async () => {
  const late: Span[] = [];
  const { root, memory, collector } = recorder({
    keep: (trace) => {
      late.pop()?.end();
      return trace.root?.name === 'kept';
    },
  });
  for (const name of ['dropped', 'kept']) {
    const span = root(name);
    late.push(Span.start('late', span));
    const last = Span.start('last', span);
    span.end();
    await collector.flush();
    await collector.flush();
    last.end();
    await collector.flush();
  }
  expect(memory.tree()).toBe('kept\n  late\n  last');
});
