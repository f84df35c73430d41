// Nothing a property callback, a getter or a value does is felt by the traced program: it is counted and left out.
import { expect, test } from 'vitest';
import { LocalSpan, type Properties, type PropertyValue, Span, SpanContext, traced } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const throwing = {
  before: 1,
  get bad(): number {
    throw new Error('getter');
  },
};
const boom = (): never => {
  throw new Error('callback');
};

test('callbacks and getters that throw are counted', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const changes = await counted(() =>
    span.run(() => {
      using a = LocalSpan.start('a');
      a.addProperties(boom).addProperties(throwing);
      LocalSpan.addProperties(() => throwing);
      span.addProperties(boom).addProperties(throwing);
      a.addProperty('after', true);
    }),
  );
  expect(changes).toEqual({ callbackErrors: 5 });
  span.end();
  await collector.flush();
  expect(memory.find('a')?.properties).toEqual({ before: 1, after: true });
});

test('event properties with a getter that throws do not block the reporter', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const changes = await counted(async () => {
    span.addEvent('e', throwing).recordException(new Error('x'), throwing);
    span.run(() => LocalSpan.start('a').addEvent('e', throwing).end());
    span.end();
    await collector.flush();
    expect(memory.find('root')?.events.map((event) => event.properties.before)).toEqual([1, 1]);
    expect(memory.find('a')?.events[0].properties).toEqual({ before: 1 });
  });
  expect(changes.callbackErrors).toBeGreaterThan(0);
  expect(collector.stats().reporters.memory.reportErrors).toBe(0);
});

test('values that are not property values are left out and counted', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const odd = {
    nothing: undefined,
    nil: null,
    object: {},
    mixed: [1, 'a'],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the point.
    holes: [1, , 2],
    symbol: Symbol('s'),
    fn: boom,
  };
  const changes = await counted(async () => {
    span.run(() => {
      LocalSpan.start('a')
        .addProperties(odd as unknown as Properties)
        .addProperties({ s: '', n: 0, b: false, i: -1n, list: [], strings: ['x'], nan: Number.NaN })
        .end();
    });
    span.end();
    await collector.flush();
    memory.find('a');
  });
  expect(changes).toEqual({ propertiesInvalid: 6 });
  expect(memory.find('a')?.properties).toEqual({
    s: '',
    n: 0,
    b: false,
    i: -1n,
    list: [],
    strings: ['x'],
    nan: Number.NaN,
  });
});

test('names of any type arrive as text', async () => {
  const { root, memory, collector } = recorder();
  // Not undefined: where files of this worker had tables of names of their own, what stands behind the end of the table would be equal to it.
  const span = root(null as unknown as string);
  span.addEvent(7 as unknown as string);
  span.run(() => LocalSpan.start(Symbol('s') as unknown as string).end());
  span.end();
  await collector.flush();
  expect(memory.spans.map((one) => one.name)).toEqual(['null', 'Symbol(s)']);
  expect(memory.spans[0].events[0].name).toBe('7');
});

test('a getter that throws costs its own property only, wherever properties are given', async () => {
  const { root, memory, collector } = recorder();
  const given = {
    first: 1,
    get bad(): number {
      throw new Error('getter');
    },
    last: 2,
  };
  const kept = { first: 1, last: 2 };
  const span = root('root', undefined, { properties: given });
  const { traceId, spanId } = span.context ?? { traceId: '', spanId: '' };
  const changes = await counted(async () => {
    Span.start('added', span).addProperties(given).end();
    Span.start('options', span, { properties: () => given }).end();
    Span.start('event', span).addEvent('e', given).end();
    Span.start('exception', span).recordException(new Error('x'), given).end();
    Span.start('link', span).addLink({ traceId, spanId, properties: given }).end();
    span.run(() => {
      LocalSpan.start('local').addProperties(given).addEvent('e', given).end();
      traced({ name: 'traced', properties: () => given }, () => {})();
    });
    span.end();
    await collector.flush();
  });
  expect(changes).toEqual({ callbackErrors: 8 });
  const events = ['event', 'local'].map((name) => memory.find(name)?.events[0].properties);
  for (const name of ['root', 'added', 'options', 'local', 'traced'])
    expect(memory.find(name)?.properties).toEqual(kept);
  for (const properties of events) expect(properties).toEqual(kept);
  expect(memory.find('exception')?.events[0].properties).toMatchObject({ 'exception.message': 'x', ...kept });
  expect(memory.find('link')?.links[0].properties).toEqual(kept);
});

test('an exception of which one getter throws keeps the rest', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const error = Object.defineProperty(new RangeError('r'), 'stack', { get: boom });
  span.recordException(error).end();
  await collector.flush();
  expect(memory.spans[0].events[0].properties).toEqual({ 'exception.type': 'RangeError', 'exception.message': 'r' });
});

test('a callback in place of properties runs once and only when recording, wherever properties are given', async () => {
  const { root, memory, collector } = recorder();
  let runs = 0;
  const made = () => ({ run: ++runs });
  const never = root('unsampled', SpanContext.random({ sampled: false }));
  const ended = root('ended');
  const local = ended.run(() => LocalSpan.start('local'));
  ended.end();
  for (const one of [Span.noop(), never, ended]) {
    one.addEvent('e', made).addLink(ended, made).recordException(new Error('x'), made).addProperties(made);
    one.run(() => never.run(() => LocalSpan.addEvent('e', made)));
  }
  local.addEvent('e', made);
  LocalSpan.addEvent('e', made);
  LocalSpan.start('no parent').addEvent('e', made);
  expect(runs).toBe(0);

  const span = root('root', undefined, { properties: made });
  span.addEvent('e', made).addLink(ended, made).recordException(new Error('x'), made);
  span.run(() => {
    LocalSpan.addEvent('of the span', made);
    const one = LocalSpan.start('one').addEvent('e', made);
    LocalSpan.addEvent('current', made);
    one.addEvent('throws', boom).end();
  });
  span.end();
  expect(runs).toBe(7);
  await collector.flush();
  const record = memory.find('root');
  expect(record?.events.map((event) => event.properties.run)).toEqual([2, 4, 5]);
  expect(record?.links.map((link) => link.properties)).toEqual([{ run: 3 }]);
  expect(memory.find('one')?.events.map((event) => event.properties)).toEqual([{ run: 6 }, { run: 7 }, {}]);
});

test('a callback of an event may end the span it is for', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => {
    const one = LocalSpan.start('one');
    one.addEvent('e', () => {
      one.end();
      LocalSpan.start('two').end();
      return { a: 1 };
    });
  });
  const child = Span.start('child', span);
  child.addEvent('e', () => {
    child.end();
    return { a: 1 };
  });
  span.end();
  expect(await tree()).toBe('root\n  one\n  two\n  child');
});

test('a property with the key __proto__ is read back', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const own = JSON.parse('{ "__proto__": [1, 2], "b": 1 }') as Record<string, PropertyValue>;
  const { traceId, spanId } = span.context ?? { traceId: '', spanId: '' };
  span.addProperty('__proto__', 5).addProperty('a', 1).addEvent('e', own).recordException(new Error('x'), own);
  span.addLink({ traceId, spanId }, own);
  span.run(() => LocalSpan.start('local').addProperty('__proto__', 'text').addProperties(own).end());
  span.end();
  await collector.flush();
  const [record, local] = [memory.find('root'), memory.find('local')];
  expect(Object.entries(record?.properties ?? {})).toEqual([
    ['__proto__', 5],
    ['a', 1],
  ]);
  expect(Object.getPrototypeOf(record?.properties)).toBe(Object.prototype);
  const all = [record?.events[0].properties, record?.links[0].properties, local?.properties];
  for (const one of all) expect(JSON.stringify(one)).toBe('{"__proto__":[1,2],"b":1}');
  expect(JSON.stringify(record?.events[1].properties)).toContain('"__proto__":[1,2],"b":1}');
  expect(record?.withProperties(own).propertyList).toEqual(['a', 1, '__proto__', [1, 2], 'b', 1]);
});

test('a callback does not run after the end of its span', async () => {
  const { root } = recorder();
  let calls = 0;
  const callback = (): Properties => ({ calls: ++calls });
  const span = root('root');
  const changes = await counted(() => {
    span.run(() => {
      const local = LocalSpan.start('a');
      local.end();
      local.addProperties(callback).addEvent('e', callback);
    });
    span.end();
    span.addProperties(callback).addEvent('e', callback);
  });
  expect(calls).toBe(0);
  expect(changes).toEqual({ changedAfterEnd: 4 });
});

test('a callback does not run for a trace that was cancelled', () => {
  const { root } = recorder();
  let calls = 0;
  const callback = (): Properties => ({ calls: ++calls });
  const span = root('root');
  span.run(() => {
    using local = LocalSpan.start('open');
    span.cancel();
    local.addProperties(callback).addEvent('e', callback);
    LocalSpan.addProperties(callback);
  });
  expect(calls).toBe(0);
});
