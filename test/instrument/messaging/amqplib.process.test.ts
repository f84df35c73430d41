// Messages of amqplib on channels that do what no broker does; its versions, with a broker, are in amqplib.full.test.ts.
import { expect, test } from 'vitest';
import { Span, stats } from '../../../src/index.js';
import { type IncomingHeaders, instrument } from '../../../src/instrument/index.js';
import { queueStore } from '../../../src/local-span/local-span.js';
import { ALL_OFF, instrumentOnly, recorded } from '../support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const fakeLibrary = (): Untyped => {
  class Channel {
    sendMessage(fields: Untyped): unknown {
      if (fields.routingKey === 'wrong') throw new TypeError('wrong');
      return 7;
    }
    sendImmediately(): void {}
    toClosed(): void {}
  }
  class BaseChannel extends Channel {
    handler: Untyped;
    dispatchMessage(_: Untyped, message: Untyped): unknown {
      return this.handler(message);
    }
  }
  return { Channel, BaseChannel };
};

const MESSAGE = { properties: { headers: { traceparent: 7, x: null } }, content: Buffer.from('a') };

test('what a channel and a handler give and throw is what the program gets', async () => {
  const module = fakeLibrary();
  instrumentOnly({ amqplib: { module } });
  const channel = new module.BaseChannel();
  expect(channel.sendMessage({ exchange: '', routingKey: 'orders' }, {}, Buffer.from('a'))).toBe(7);
  expect(() => channel.sendMessage({ exchange: '', routingKey: 'wrong' }, {})).toThrow(TypeError);
  expect(() => channel.sendMessage()).toThrow(TypeError);
  channel.handler = () => 'given';
  expect(channel.dispatchMessage({ deliveryTag: 1, routingKey: 'orders' }, MESSAGE)).toBe('given');
  channel.handler = () => {
    throw new RangeError('wrong');
  };
  expect(() => channel.dispatchMessage({ deliveryTag: 2, routingKey: 'orders' }, MESSAGE)).toThrow(RangeError);
  // A consumer that the broker has cancelled.
  channel.handler = (message: unknown) => message;
  expect(channel.dispatchMessage({}, null)).toBe(null);
  const spans = await recorded();
  expect(spans.map(({ name, status }) => [name, status.message ?? ''])).toEqual([
    ['publish orders', ''],
    ['publish wrong', 'TypeError'],
    ['process orders', ''],
    ['process orders', 'RangeError'],
  ]);
  expect(spans[2].links).toEqual([]);
});

test('what a handler gives is waited for where it is a promise, and begun or looked at nowhere', async () => {
  const module = fakeLibrary();
  instrumentOnly({ amqplib: { module } });
  const channel = new module.BaseChannel();
  let begun = 0;
  const query = Object.defineProperty({}, 'then', { value: () => void begun++ });
  const hostile = new Proxy(
    {},
    {
      get() {
        throw new Error('trap');
      },
    },
  );
  for (const given of [query, hostile]) {
    channel.handler = () => given;
    expect(channel.dispatchMessage({ deliveryTag: 1, routingKey: 'orders' }, MESSAGE) === given).toBe(true);
  }
  expect(begun).toBe(0);
  channel.handler = () => Promise.reject(new RangeError('wrong'));
  await expect(channel.dispatchMessage({ deliveryTag: 2, routingKey: 'orders' }, MESSAGE)).rejects.toThrow(RangeError);
  expect((await recorded()).map(({ status }) => status.message ?? '')).toEqual(['', '', 'RangeError']);
});

test('what others name in a message is bounded', async () => {
  const module = fakeLibrary();
  instrumentOnly({ amqplib: { module } });
  const channel = new module.BaseChannel();
  const long = 'a'.repeat(10_000);
  channel.handler = () => {};
  const message = { ...MESSAGE, properties: { headers: {}, messageId: long, correlationId: long } };
  channel.dispatchMessage({ deliveryTag: 1, routingKey: long }, message);
  channel.sendMessage({ exchange: long, routingKey: long }, { messageId: long }, Buffer.from('a'));
  const spans = await recorded();
  expect(spans).toHaveLength(2);
  for (const { name, properties } of spans)
    for (const text of [name, ...Object.values(properties)]) expect(String(text).length).toBeLessThanOrEqual(255);
});

test('a propagator that throws is counted; the message goes out, and is processed', async () => {
  const module = fakeLibrary();
  const wrong = (): never => {
    throw new Error('wrong');
  };
  instrumentOnly({ amqplib: { module }, propagator: { extract: wrong, inject: wrong, carried: wrong } });
  const channel = new module.BaseChannel();
  const before = stats().instrumentationErrors;
  expect(channel.sendMessage({ exchange: '', routingKey: 'orders' }, {})).toBe(7);
  channel.handler = () => Span.current()?.name;
  expect(channel.dispatchMessage({ deliveryTag: 1, routingKey: 'orders' }, MESSAGE)).toBe('process orders');
  expect((await recorded()).map(({ name }) => name)).toEqual(['publish orders', 'process orders']);
  expect(stats().instrumentationErrors - before).toBe(3);
});

test('what else the headers bring is current in the handler, and nowhere else', async () => {
  const module = fakeLibrary();
  const carried = ({ baggage }: IncomingHeaders): object => ({ baggage });
  instrumentOnly({ amqplib: { module }, propagator: { extract: () => undefined, inject() {}, carried } });
  const channel = new module.BaseChannel();
  channel.handler = () => queueStore.getStore()?.context;
  const message = { properties: { headers: { Baggage: Buffer.from('a=b'), other: 7 } } };
  Span.root('connecting').runToEnd(() => {
    const around = queueStore.getStore();
    expect(channel.dispatchMessage({ deliveryTag: 1, routingKey: 'orders' }, message)).toEqual({ baggage: 'a=b' });
    expect(queueStore.getStore()).toBe(around);
  });
  const spans = await recorded();
  expect(spans.map(({ name }) => name).sort()).toEqual(['connecting', 'process orders']);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(2);
});

test('switched off while messages are open: they end, and no more begin, though the program has wrapped ours', async () => {
  const module = fakeLibrary();
  const { disable } = instrument({ ...ALL_OFF, amqplib: { module } });
  const ours = module.Channel.prototype.sendMessage;
  const own = function (this: unknown, ...args: unknown[]): unknown {
    return Reflect.apply(ours, this, args);
  };
  module.Channel.prototype.sendMessage = own;
  const channel = new module.BaseChannel();
  channel.handler = () => new Promise(() => {});
  channel.dispatchMessage({ deliveryTag: 1, routingKey: 'orders' }, MESSAGE);
  disable();
  expect(module.Channel.prototype.sendMessage).toBe(own);
  channel.sendMessage({ exchange: '', routingKey: 'orders' }, {});
  channel.dispatchMessage({ deliveryTag: 2, routingKey: 'orders' }, MESSAGE);
  expect(await recorded()).toEqual([]);
  channel.toClosed();
  expect((await recorded()).map(({ name, status }) => [name, status.message])).toEqual([
    ['process orders', 'channel_closed'],
  ]);
  expect(module.Channel.prototype.toClosed.toString()).toMatch(/^toClosed\(\) ?\{/);
});

test('of very many open messages the oldest end', async () => {
  const module = fakeLibrary();
  instrumentOnly({ amqplib: { module } });
  const channel = new module.BaseChannel();
  channel.handler = () => new Promise(() => {});
  for (let tag = 1; tag <= 4096 + 2; tag++)
    channel.dispatchMessage({ deliveryTag: tag, routingKey: 'orders' }, MESSAGE);
  const ended = await recorded();
  expect(ended.map(({ properties }) => properties['messaging.rabbitmq.message.delivery_tag'])).toEqual([1, 2]);
  channel.toClosed();
});
