// maxSpansPerTrace: whatever is refused, no record names a parent that nobody has, the cap holds, and the root says how
// many spans are missing.

import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, Span, type SpanRecord } from '../../src/index.js';
import fc from '../support/fast-check.js';
import { counted, recorder } from '../support/recorder.js';
import { samples } from '../support/samples.js';

const orphans = (spans: readonly SpanRecord[]): string[] => {
  const ids = new Set(spans.map((one) => `${one.traceId} ${one.spanId}`));
  return spans
    .filter((one) => one.parentSpanId !== '' && !ids.has(`${one.traceId} ${one.parentSpanId}`))
    .map((one) => one.name);
};

test('spans below local spans that are refused hang on the nearest one that is kept', async () => {
  for (const cap of [1, 2, 3, 7, 10, 130]) {
    const { root, memory, collector } = recorder({ maxSpansPerTrace: cap });
    const span = root('root');
    const changes = await counted(() => {
      span.run(() => {
        for (let i = 0; i < 300; i++) {
          using _local = LocalSpan.start(`local ${i}`);
          const child = Span.startWithLocalParent(`child ${i}`);
          child.run(() => LocalSpan.start(`inner ${i}`).end());
          Span.start(`grandchild ${i}`, child).end();
          child.end();
        }
      });
      span.end();
    });
    await collector.flush();
    expect(orphans(memory.spans)).toEqual([]);
    expect(memory.spans.length).toBe(cap + 1);
    const dropped = (changes.spansOverTraceCap ?? 0) + (changes.localSpansOverCap ?? 0);
    expect(dropped).toBe(1200 - cap);
    expect(memory.find('root')?.properties).toEqual({ 'spanline.dropped_spans': dropped });
  }
});

test('children end before their parent: it is the late starters that are refused', async () => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 3 });
  const span = root('root');
  const parent = Span.start('parent', span);
  const children = [1, 2, 3, 4].map((i) => Span.start(`child ${i}`, parent));
  expect(children.map((one) => one.isRecording)).toEqual([true, true, false, false]);
  const refused = children[3];
  // What is sent on from there belongs to the nearest span that is kept.
  expect(refused.context?.spanId).toBe(parent.context?.spanId);
  expect(refused.context?.sampled).toBe(true);
  refused.addProperty('k', 1).addEvent('e').setStatus('ok');
  refused.run(() => expect(Span.current()).toBe(refused));
  for (const child of children) child.end();
  parent.end();
  span.end();
  await collector.flush();
  expect(memory.tree()).toBe('root\n  parent\n    child 1\n    child 2');
  expect(memory.find('root')?.properties).toEqual({ 'spanline.dropped_spans': 2 });
});

test.each([
  ['a number', 0],
  ['an array', [1, 2, 3]],
  ['a text', 'mine'],
])('a root with %s under the key of the cut has the key once', async (_, value) => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 1 });
  const span = root('root').addProperty('a', 1).addProperty('spanline.dropped_spans', value).addProperty('z', 'last');
  span.addEvent('kept').setStatus('error', 'why');
  for (let i = 0; i < 3; i++) Span.start('child', span).end();
  span.end();
  await collector.flush();
  const record = memory.find('root');
  expect(record?.propertyList).toEqual(['a', 1, 'z', 'last', 'spanline.dropped_spans', 2]);
  expect(record?.events.map(({ name }) => name)).toEqual(['kept']);
  expect(record?.status).toEqual({ code: 'error', message: 'why' });
});

test('a trace that was not cut says nothing', async () => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 2 });
  const span = root('root');
  span.run(() => LocalSpan.start('a').end());
  Span.start('b', span).end();
  span.end();
  await collector.flush();
  expect(memory.spans.length).toBe(3);
  expect(memory.find('root')?.propertyList).toBe(null);
});

test('any program under any cap, over two traces', async () => {
  const step = fc.record({
    op: fc.constantFrom('local', 'endLocal', 'here', 'child', 'merged', 'end', 'enter', 'leave', 'detached', 'task'),
    at: fc.nat(10),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60, size: 'max' }),
      fc.integer({ min: 1, max: 20 }),
      async (steps, cap) => {
        const { root, memory, collector } = recorder({ maxSpansPerTrace: cap });
        const spans = [root('one'), root('two')];
        const roots = [...spans];
        const locals: LocalSpan[] = [];
        const scopes: Disposable[] = [];
        const pick = (at: number): Span => spans[at % spans.length];
        const tasks: Promise<void>[] = [];
        for (const { op, at } of steps) {
          if (op === 'local') locals.push(LocalSpan.start(`l${at}`));
          else if (op === 'endLocal') locals.pop()?.end();
          else if (op === 'here') spans.push(Span.startWithLocalParent('here'));
          else if (op === 'child') spans.push(Span.start('child', pick(at)));
          else if (op === 'merged') spans.push(Span.start('merged', [pick(at), pick(at + 1)]));
          else if (op === 'end') pick(at + 2).isRecording && !roots.includes(pick(at + 2)) && pick(at + 2).end();
          else if (op === 'enter') scopes.push(pick(at).enter());
          else if (op === 'leave') scopes.pop()?.[Symbol.dispose]();
          else if (op === 'detached') {
            const [, set] = LocalCollector.run(() => LocalSpan.start('detached').end());
            pick(at).pushChildSpans(set);
            pick(at + 1).pushChildSpans(set);
          } else {
            tasks.push(
              pick(at).run(async () => {
                using _task = LocalSpan.start('task');
                spans.push(Span.startWithLocalParent('in task'));
                await null;
                LocalSpan.start('in task, later').end();
              }),
            );
          }
        }
        while (scopes.length > 0) scopes.pop()?.[Symbol.dispose]();
        await Promise.all(tasks);
        for (const span of spans.reverse()) if (span.isRecording) span.end();
        await collector.flush();
        expect(orphans(memory.spans)).toEqual([]);
        for (const one of memory.traces)
          expect(new Set(one.spans.map(({ spanId }) => spanId)).size).toBe(one.spans.length);
      },
    ),
    { numRuns: samples(200, 1000, 20_000) },
  );
});

test('a batch that finds no place in a trace that was reported takes no number of a trace for ever', async () => {
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 1 });
  const [, spans] = LocalCollector.run(() => LocalSpan.start('refused').end());
  for (let i = 0; i < 20; i++) {
    const span = root('root');
    Span.start('child', span).end();
    span.end();
    await collector.flush();
    span.pushChildSpans(spans);
  }
  expect(collector.life.rows.traces.size).toBe(1);
  expect(memory.spans.length).toBe(40);
});
