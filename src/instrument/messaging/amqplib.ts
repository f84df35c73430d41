// Messages of amqplib, which publishes nothing: what its channels send, and what consumers do with a message, until that is done and acknowledged.
// Both of its interfaces, of promises and of callbacks, go through the methods of `lib/channel.js` that are wrapped here.
import { getOrMake } from '../../base/maps/maps.js';
import type { PropertyValue } from '../../rows/property.js';
import { allOff, InFlight, type Off, quiet } from '../channel.js';
import { endingWith, isPromise } from '../ending.js';
import { failureType, fieldOf, reasonOf } from '../failure.js';
import { boundFor, callerHere, callingBack } from '../in-context.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import type { IncomingHeaders, Propagator } from '../propagator.js';
import { type Classes, type Method, onReturn, replaceMethod } from '../replace-method.js';
import { type FollowedMessage, Messaging, type MessagingOptions, textHeaders } from './messaging.js';

/** Options of the instrumentation `amqplib`. Its `module` is what `amqplib/lib/channel.js` exports. */
export interface AmqplibOptions extends MessagingOptions, ModuleOptions {}

type ChannelFile = Classes<'Channel' | 'BaseChannel'>;
interface Channel {
  readonly connection?: { readonly stream?: Stream };
  readonly waitForConfirms?: unknown;
}
interface Stream {
  readonly _host?: unknown;
  readonly remoteAddress?: unknown;
  readonly remotePort?: unknown;
}
interface Publish {
  readonly exchange?: unknown;
  readonly routingKey?: unknown;
}
interface MessageProperties {
  headers?: object | undefined;
  readonly messageId?: unknown;
  readonly correlationId?: unknown;
}
interface Delivery extends Publish {
  readonly consumerTag?: unknown;
  readonly deliveryTag?: unknown;
}
interface Message {
  readonly content?: { readonly length?: unknown };
  readonly properties?: MessageProperties;
}

/** Numbers of methods in AMQP 0-9-1. */
const CONSUME = (60 << 16) | 20;
const CANCEL = (60 << 16) | 30;
const ACK = (60 << 16) | 80;
const REJECT = (60 << 16) | 90;
const NACK = (60 << 16) | 120;

/** What a message failed by that was given back. */
const GIVEN_BACK: Readonly<Record<number, string | undefined>> = { [REJECT]: 'reject', [NACK]: 'nack' };
const CLOSED = 'channel_closed';

/** Deliveries of a channel that may be open at once; older ones end. */
const MAX_OPEN = 4096;

/** A delivery that is not done with. */
interface Open {
  readonly message: FollowedMessage;
  readonly tag: number;
  /** Its handler has neither returned nor settled. */
  isHandled: boolean;
  isSettled: boolean;
  failure: string | undefined;
}

interface Sent {
  readonly channel: object;
  readonly message: FollowedMessage | undefined;
}
/** Of a message on a channel with confirms. */
interface Confirmation {
  readonly channel: object;
  /** Somebody is called back. */
  readonly isHeard: boolean;
  message: FollowedMessage | undefined;
}

interface Consumer {
  readonly queue: string;
  readonly isAcknowledged: boolean;
}

/** Kept of a channel until they are cancelled, however often this is switched on and off. */
const consumers = new WeakMap<object, Map<unknown, Consumer>>();

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Names that nobody has chosen are one. */
const ANONYMOUS = /^(?:amq\.gen-|amq\.ctag-|amq\.rabbitmq\.reply-to)/;
const shortOf = (name: string): string => (ANONYMOUS.test(name) ? '(anonymous)' : name);

const joined = (...names: string[]): string =>
  names.filter((name, i) => name !== '' && name !== names[i - 1]).join(':') || 'amq.default';

const commonOf = (
  destination: string,
  { connection }: Channel,
  routingKey: string,
  { content, properties = {} }: Message,
): (string | PropertyValue)[] => {
  const list: (string | PropertyValue)[] = ['messaging.destination.name', destination];
  const { messageId, correlationId } = properties;
  const { _host, remoteAddress, remotePort } = connection?.stream ?? {};
  const address = _host ?? remoteAddress;
  if (ANONYMOUS.test(destination)) list.push('messaging.destination.anonymous', true);
  if (routingKey !== '') list.push('messaging.rabbitmq.destination.routing_key', routingKey);
  if (typeof messageId === 'string') list.push('messaging.message.id', messageId);
  if (typeof correlationId === 'string') list.push('messaging.message.conversation_id', correlationId);
  if (typeof content?.length === 'number') list.push('messaging.message.body.size', content.length);
  if (typeof address === 'string') list.push('server.address', address);
  if (typeof remotePort === 'number') list.push('server.port', remotePort);
  return list;
};

/** What amqplib calls back with when a message is not confirmed has no code. */
const confirmFailure = (error: unknown): string => {
  const message = fieldOf(error, 'message');
  return message === 'message nacked' ? 'nack' : message === 'channel closed' ? CLOSED : failureType(error);
};

/** amqplib 0.8 and later. */
export const instrumentAmqplib = (options: AmqplibOptions, propagator: Propagator): Off => {
  const messaging = new Messaging('amqplib', 'rabbitmq', options, propagator);
  const inFlight = new InFlight();
  const opened = new WeakMap<object, Map<number, Open>>();
  const unconfirmed = new WeakMap<object, Set<FollowedMessage>>();
  /** A message to be confirmed is two calls in a row, of which 0.10 makes the second one first. */
  let sent: Sent | undefined;
  let expected: Confirmation | undefined;

  const endSent = (channel: object, message: FollowedMessage, type?: string, error?: unknown): void => {
    if (unconfirmed.get(channel)?.delete(message) !== true) return;
    messaging.end(message, type, error);
    inFlight.ended();
  };

  const beginSending = quiet(
    (
      channel: Channel,
      fields: Publish,
      properties: MessageProperties,
      content: unknown,
    ): FollowedMessage | undefined => {
      const exchange = textOf(fields.exchange);
      const routingKey = textOf(fields.routingKey);
      const call = { operation: 'publish', destination: exchange || shortOf(routingKey) || 'amq.default' };
      const message = messaging.startSending(
        call,
        commonOf(joined(exchange, routingKey), channel, routingKey, {
          properties,
          content: content as Message['content'],
        }),
      );
      if (message === undefined) return undefined;
      messaging.inject(message.span, (name, value) => {
        // Both are made for this call; the program's own headers are above these, and stay as they are.
        properties.headers ??= {};
        (properties.headers as Record<string, string>)[name] = value;
      });
      if (!message.isFollowed) return undefined;
      getOrMake(unconfirmed, channel, () => new Set()).add(message);
      inFlight.begun();
      return message;
    },
  );

  const sending = (send: Method): Method =>
    function (this: unknown, ...args) {
      const channel = this as Channel;
      const confirmation = expected?.channel === channel ? expected : undefined;
      expected = undefined;
      const message = beginSending(channel, args[0] as Publish, args[1] as MessageProperties, args[2]);
      let result: unknown;
      try {
        result = Reflect.apply(send, this, args);
      } catch (error) {
        if (message !== undefined) endSent(channel, message, failureType(error), error);
        throw error;
      }
      if (confirmation !== undefined) confirmation.message = message;
      else if (typeof channel.waitForConfirms === 'function') sent = { channel, message };
      if (message !== undefined && sent?.message !== message && confirmation?.isHeard !== true)
        endSent(channel, message);
      return result;
    };

  const confirming = (push: Method): Method =>
    function (this: unknown, callback, ...rest) {
      const channel = this as Channel;
      const last = sent?.channel === channel ? sent : undefined;
      sent = undefined;
      const isHeard = typeof callback === 'function';
      const confirmation: Confirmation = { channel, isHeard, message: last?.message };
      if (last === undefined) expected = confirmation;
      if (!isHeard) {
        if (last?.message !== undefined) endSent(channel, last.message);
        return Reflect.apply(push, this, [callback, ...rest]);
      }
      const ended = quiet((error: unknown) => {
        const { message } = confirmation;
        if (message !== undefined)
          endSent(channel, message, error ? confirmFailure(error) : undefined, error ?? undefined);
      });
      return Reflect.apply(push, this, [boundFor(callerHere(), callback, ended), ...rest]);
    };

  const end = (channel: object, open: Open, error?: unknown): void => {
    const all = opened.get(channel);
    if (all?.get(open.tag) !== open) return;
    all.delete(open.tag);
    messaging.end(open.message, open.failure, error);
    inFlight.ended();
  };
  const endQuietly = quiet(end);

  const beginProcessing = quiet((channel: Channel, fields: Delivery, delivered: Message, headers: IncomingHeaders) => {
    const routingKey = textOf(fields.routingKey);
    const exchange = textOf(fields.exchange);
    const queue = consumers.get(channel)?.get(fields.consumerTag)?.queue ?? '';
    const list = commonOf(joined(exchange, routingKey, queue), channel, routingKey, delivered);
    const tag = fields.deliveryTag;
    if (typeof tag === 'number') list.push('messaging.rabbitmq.message.delivery_tag', tag);
    const destination = shortOf(queue || exchange || routingKey) || 'amq.default';
    const message = messaging.startProcessing({ operation: 'process', destination }, list, [headers]);
    if (message === 'ignored' || !message.isFollowed) return { message, open: undefined };
    const all = getOrMake(opened, channel, () => new Map());
    const oldest = all.size >= MAX_OPEN ? all.values().next().value : undefined;
    if (oldest !== undefined) end(channel, oldest);
    const open: Open = { message, tag: Number(tag), isHandled: true, isSettled: false, failure: undefined };
    all.set(open.tag, open);
    inFlight.begun();
    return { message, open };
  });

  const dispatching = (dispatch: Method): Method =>
    function (this: unknown, ...args) {
      const channel = this as Channel;
      const [fields, delivered] = args as [Delivery, Message | null];
      // A consumer that the broker has cancelled gets null.
      if (typeof delivered !== 'object' || delivered === null) {
        consumers.get(channel)?.delete(fields.consumerTag);
        return Reflect.apply(dispatch, this, args);
      }
      const headers = readHeaders(delivered) ?? {};
      const begun = beginProcessing(channel, fields, delivered, headers);
      if (begun === undefined) return Reflect.apply(dispatch, this, args);
      const { message, open } = begun;
      const done = quiet((error: unknown) => {
        if (open === undefined) return;
        if (error !== undefined) open.failure = failureType(error);
        end(channel, open, error);
      });
      let result: unknown;
      try {
        result = messaging.runProcessing(message, headers, () => Reflect.apply(dispatch, this, args));
      } catch (error) {
        done(reasonOf(error));
        throw error;
      }
      if (open === undefined) return result;
      // amqplib does nothing with it: what only begins when it is waited for must not begin here.
      if (isPromise(result)) return endingWith(result, done);
      open.isHandled = false;
      const isAcknowledged = consumers.get(channel)?.get(fields.consumerTag)?.isAcknowledged === true;
      if (open.isSettled || !isAcknowledged) done(undefined);
      return result;
    };

  const settle = (_: unknown, channel: object, [method, given]: readonly unknown[]): void => {
    const all = method === ACK || method === NACK || method === REJECT ? opened.get(channel) : undefined;
    if (all === undefined) return;
    const { deliveryTag, multiple } = Object(given) as { deliveryTag?: unknown; multiple?: unknown };
    const settled =
      multiple === true
        ? [...all.values()].filter(({ tag }) => deliveryTag === 0 || tag <= Number(deliveryTag))
        : [all.get(Number(deliveryTag))];
    for (const open of settled) {
      if (open === undefined || open.isSettled) continue;
      open.isSettled = true;
      open.failure = GIVEN_BACK[method as number];
      if (!open.isHandled) endQuietly(channel, open);
    }
  };

  const endAll = quiet((channel: object) => {
    for (const open of opened.get(channel)?.values() ?? []) {
      open.failure ??= CLOSED;
      endQuietly(channel, open);
    }
    for (const message of unconfirmed.get(channel) ?? []) endSent(channel, message, CLOSED);
  });

  const closing = (close: Method): Method =>
    function (this: unknown, ...args) {
      try {
        return Reflect.apply(close, this, args);
      } finally {
        endAll(this as object);
      }
    };

  const onChannel = (patch: (file: ChannelFile) => readonly Off[]): Off =>
    onModule<ChannelFile>('amqplib/lib/channel.js', options.module, (file) => allOff(patch(file)));
  const stopBeginning = allOff([
    onChannel(({ Channel, BaseChannel }) => [
      replaceMethod(Channel?.prototype, 'sendMessage', sending),
      replaceMethod(Channel?.prototype, 'pushConfirmCallback', confirming),
      replaceMethod(Channel?.prototype, '_rpc', notingConsumers),
      // What the broker answers is called back in the context of the caller.
      replaceMethod(Channel?.prototype, 'sendOrEnqueue', callingBack),
      replaceMethod(Channel?.prototype, 'closeBecause', callingBack),
      replaceMethod(BaseChannel?.prototype, 'dispatchMessage', dispatching),
    ]),
    onModule<Classes<'Channel'>>('amqplib/lib/callback_model.js', undefined, ({ Channel }) =>
      replaceMethod(Channel?.prototype, 'get', callingBack),
    ),
  ]);
  const stopEnding = onChannel(({ Channel }) => [
    onReturn(Channel?.prototype, 'sendImmediately', settle),
    replaceMethod(Channel?.prototype, 'toClosed', closing),
  ]);
  return inFlight.off(stopBeginning, stopEnding);
};

const readHeaders = quiet(({ properties }: Message) => textHeaders(properties?.headers));

/** Deliveries name their consumer, but not its queue. */
const notingConsumers = (rpc: Method): Method =>
  function (this: unknown, ...args) {
    const [method, fields, , callback] = args;
    if ((method !== CONSUME && method !== CANCEL) || typeof callback !== 'function')
      return Reflect.apply(rpc, this, args);
    const note = quiet((_: unknown, answer: unknown) => {
      if (answer === undefined) return;
      const { queue, noAck, consumerTag } = Object(fields) as {
        queue?: unknown;
        noAck?: unknown;
        consumerTag?: unknown;
      };
      // A program may consume and cancel for each of its requests.
      if (method === CANCEL) return void consumers.get(this as object)?.delete(consumerTag);
      const { fields: given } = Object(answer) as { fields?: { consumerTag?: unknown } };
      const all = consumers.get(this as object) ?? new Map<unknown, Consumer>();
      consumers.set(
        this as object,
        all.set(given?.consumerTag, { queue: textOf(queue), isAcknowledged: noAck !== true }),
      );
    });
    args[3] = boundFor(callerHere(), callback, note);
    return Reflect.apply(rpc, this, args);
  };
