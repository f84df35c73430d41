// Nothing a property callback, a getter or a value does is felt by the traced program: it is counted and left out.
import { expect, test } from 'vitest';
import { LocalSpan, type Properties } from '../../src/index.js';
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

test('values that are no property values are left out and counted', async () => {
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
  const span = root(undefined as unknown as string);
  span.addEvent(7 as unknown as string);
  span.run(() => LocalSpan.start(Symbol('s') as unknown as string).end());
  span.end();
  await collector.flush();
  expect(memory.spans.map((one) => one.name)).toEqual(['undefined', 'Symbol(s)']);
  expect(memory.spans[0].events[0].name).toBe('7');
});
