// The likely mistakes of a program without types: none throws, each is counted, and the first of each kind is said once with
// the call that was meant. A root with a wrong context is a new trace, never one of an all-zero id.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  always,
  bindEmitter,
  contextForWorker,
  LocalCollector,
  LocalSpan,
  Span,
  SpanContext,
  toRecords,
  trace,
  traceStream,
} from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

// biome-ignore lint/suspicious/noExplicitAny: wrong on purpose.
const any = (value: unknown): any => value;
const HEADER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const warnings: (Error & { code?: string })[] = [];
/** All that was said in this file, whose parts come in any order: what one has said, another does not say again. */
const everSaid: string[] = [];
const onWarning = (warning: Error): void => {
  warnings.push(warning);
  everSaid.push(warning.message);
};
beforeEach(() => {
  warnings.length = 0;
  process.on('warning', onWarning);
});
afterEach(() => process.off('warning', onWarning));

/** What was said: warnings are emitted in the next tick. */
const said = async (): Promise<string> => {
  await new Promise((resolve) => setImmediate(resolve));
  for (const one of warnings) expect([one.name, one.code]).toEqual(['SpanlineWarning', 'SPANLINE_WRONG_ARGUMENT']);
  return warnings.map((one) => one.message).join('\n');
};

const { collector, memory, root } = recorder({ sampler: always });
const parent = root('parent');
const inTransit = structuredClone({ ...SpanContext.random() });
const zero = new SpanContext(0, 0, 0, 0, 0, 0, true, false, '', false);

/** Each mistake, with what its warning names; undefined where it was said before. */
const roots: [string, unknown, string | undefined][] = [
  ['a header', HEADER, 'SpanContext.fromTraceparent(traceparent, tracestate)'],
  ['another header', 'nonsense', undefined],
  ['headers', { traceparent: HEADER }, undefined],
  ['repeated headers', [HEADER, HEADER], undefined],
  ['options', { kind: 'server' }, 'Span.root(name, undefined, options)'],
  ['options with properties', { properties: {} }, undefined],
  ['a span', parent, 'Span.start(name, span)'],
  ['bytes for a worker', contextForWorker(parent), 'contextFromWorker(bytes)'],
  ['a cloned context', inTransit, undefined],
  ['a number', 5, 'SpanContext.random()'],
  ['true', true, undefined],
  ['a function', () => SpanContext.random(), undefined],
  ['an all-zero context', zero, undefined],
  ['a proxy', new Proxy({}, { get: () => any(undefined).x, has: () => any(undefined).x }), undefined],
];

// In this order, for the first mistake of a kind is said and the next is not.
describe('Span.root(name, context)', { shuffle: false }, () => {
  test.each(roots)('%s', async (name, context, remedy) => {
    const changes = await counted(() => root(name, any(context)).end());
    expect(changes).toEqual({ tracesStarted: 1, argumentsInvalid: 1 });
    if (remedy === undefined) expect(await said()).toBe('');
    else {
      await said();
      expect(everSaid.join('\n')).toContain(remedy);
    }
    await collector.flush();
    const found = memory.find(name);
    expect(found?.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect([found?.parentSpanId, found?.hasRemoteParent]).toEqual(['', false]);
  });

  test('undefined and null are not a mistake', async () => {
    expect(await counted(() => [root('a'), root('b', any(null))])).toEqual({ tracesStarted: 2 });
  });

  test('with the default sampler they record too', async () => {
    const other = recorder();
    other.root('r', any(HEADER)).end();
    other.root('s', any({ kind: 'server' })).end();
    expect(await other.tree()).toBe('r\ns');
  });

  test('a reporter for a collector: the root goes to the default one', async () => {
    const changes = await counted(() =>
      Span.root('r', undefined, { collector: any({ name: 'r', report() {} }) }).cancel(),
    );
    expect(changes).toEqual({ tracesStarted: 1, tracesCancelled: 1, argumentsInvalid: 1 });
    expect(await said()).toContain('"collector" of Span.root takes a Collector');
  });
});

const hostile = any(
  new Proxy(
    {},
    {
      get: () => {
        throw new Error('trap');
      },
    },
  ),
);

const calls: [string, () => unknown, string | undefined][] = [
  ['a context', () => Span.start('x', any(SpanContext.random())), 'Span.root(name, context)'],
  ['a context among spans', () => Span.start('x', [parent, any(SpanContext.random())]).end(), undefined],
  ['a header', () => Span.start('x', any(HEADER)), 'Span.root(name, SpanContext.fromTraceparent'],
  ['options', () => Span.start('x', any({ kind: 'server' })), 'Span.startWithLocalParent(name, options)'],
  [
    'a local span',
    () => parent.run(() => Span.start('x', any(LocalSpan.start('local')))),
    'inside a local span use Span.startWithLocalParent(name)',
  ],
  ['a name', () => Span.start('x', any(5)), undefined],
  [
    'a parent for options',
    () => parent.run(() => Span.startWithLocalParent('x', any(parent))),
    'Span.start(name, parent',
  ],
  ['text for options', () => Span.start('x', parent, any('server')), undefined],
  ['a promise to run', () => parent.run(any(Promise.resolve(1))), 'span.run(() => work())'],
  ['nothing to run', () => parent.runToEnd(any(undefined)), undefined],
  ['nothing to bind', () => parent.bind(any(undefined)), undefined],
  ['a pair', () => parent.pushChildSpans(any(LocalCollector.run(() => 1))), 'LocalCollector.run(fn)'],
  ['batches that are none', () => parent.pushChildSpans(any({ batches: [5] })), undefined],
  [
    'a function alone',
    () =>
      expect(
        trace(
          any(() => 5),
          any(undefined),
        ),
      ).toBe(5),
    "trace('parse', () => parse(text))",
  ],
  [
    'a web stream',
    () => expect(traceStream('x', any(new ReadableStream()))).toBeDefined(),
    'traceIterable(name, stream)',
  ],
  ['no span', () => bindEmitter(new EventEmitter(), any(5)), 'bindEmitter(emitter, span)'],
  ['false', () => expect(SpanContext.random(any(false)).sampled).toBe(true), '{ sampled: false }'],
  ['a text', () => SpanContext.random({ sampled: any('no') }), undefined],
];

describe('other calls', { shuffle: false }, () => {
  const span = root('of other calls');
  test.each(calls)('%s', async (_, call, remedy) => {
    expect((await counted(call)).argumentsInvalid).toBe(1);
    if (remedy === undefined) expect(await said()).toBe('');
    else expect(await said()).toContain(remedy);
  });

  test('a kind and a status of other libraries', async () => {
    const changes = await counted(async () => {
      root('otel', undefined, { kind: any(1) })
        .setStatus(any({ code: 2 }))
        .end();
      root('otel 2')
        .setStatus('error', any(new Error('e')))
        .end();
      await collector.flush();
    });
    expect(changes).toEqual({ tracesStarted: 2, argumentsInvalid: 3 });
    expect(await said()).toMatch(
      /kind of a span is one of internal, server.*\n.*span\.setStatus\('error', error\.message\)/,
    );
  });

  test('without a parent nothing is misused', async () => {
    expect(await counted(() => Span.start('x', any(undefined)))).toEqual({ spansWithoutParent: 1 });
    const emitter = new EventEmitter();
    let calls = 0;
    expect(await counted(() => bindEmitter(emitter, any(Span.current())).on('e', () => calls++))).toEqual({
      spansWithoutParent: 1,
    });
    emitter.emit('e');
    expect(calls).toBe(1);
  });

  test('a promise in place of a function comes back, and ends the span', async () => {
    const work = Span.start('work', span);
    expect(await work.runToEnd(any(Promise.resolve(7)))).toBe(7);
    expect(work.isRecording).toBe(false);
    for (const one of [span, Span.noop(), root('no', SpanContext.random({ sampled: false }))]) {
      expect(one.run(any(8))).toBe(8);
    }
  });

  test('LocalCollector.run gives back what is not a function, with no spans', async () => {
    const work = Promise.resolve(7);
    const changes = await counted(() => {
      const [given, spans] = LocalCollector.run(any(work));
      expect([given, spans.count]).toEqual([work, 0]);
      expect(LocalCollector.run(any(undefined))[0]).toBeUndefined();
    });
    expect(changes).toEqual({ argumentsInvalid: 2 });
    expect(await said()).toContain('LocalCollector.run(() => work())');
  });

  test('toRecords of what are not local spans is empty, and a wrong parent a new trace', async () => {
    const [, spans] = LocalCollector.run(() => LocalSpan.start('x').end());
    const changes = await counted(() => {
      for (const wrong of [5, [], hostile, { batches: [{}], mountUnder() {} }])
        expect(toRecords(any(wrong))).toEqual([]);
      for (const wrong of [5, HEADER, hostile, inTransit]) {
        expect(toRecords(spans, any(wrong))[0].traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
      }
    });
    expect(changes).toEqual({ argumentsInvalid: 8 });
    expect(await said()).toContain('span.context');
    expect(await counted(() => expect(toRecords(any(undefined))).toEqual([]))).toEqual({});
    expect(await counted(() => expect(toRecords(spans, any(null))).toHaveLength(1))).toEqual({});
  });

  test('contextForWorker of what is not a span is undefined', async () => {
    const throwing = { context: { toBytes: () => any(undefined).x } };
    const changes = await counted(() => {
      for (const wrong of [5, hostile, throwing, { context: {} }, new Proxy({}, { get: () => any(undefined).x })]) {
        expect(contextForWorker(any(wrong))).toBeUndefined();
      }
    });
    expect(changes).toEqual({ argumentsInvalid: 5 });
    expect(await said()).toContain('toBytes()');
    expect(await counted(() => expect(contextForWorker(any(null))).toBeUndefined())).toEqual({});
  });

  test('a getter that throws costs no more than itself', async () => {
    const changes = await counted(() => {
      Span.start('x', any(hostile));
      Span.start('x', any([span, hostile])).end();
      Span.start('x', span, hostile).addLink(hostile).end();
      Span.root('x', hostile, { collector }).end();
    });
    expect(changes).toEqual({
      tracesStarted: 1,
      argumentsInvalid: 3,
      spansWithoutParent: 1,
      callbackErrors: 1,
      linksInvalid: 1,
    });
  });

  test('bindEmitter of what emits nothing names the argument', () => {
    const throwing = new Proxy({}, { get: () => any(undefined).x });
    for (const wrong of [5, undefined, null, {}, { on() {} }, { on() {}, off() {} }, throwing]) {
      expect(() => bindEmitter(any(wrong), span)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
    }
  });
});
