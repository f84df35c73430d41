// Messages of kafkajs, which publishes nothing: what its producers send, by topic, and what consumers do with a message or a batch. Its producers and
// consumers are objects without a class, so that they are wrapped as they are made. What the program gives them must stay as it is.

import { lookAlike } from '../../base/calls/look-alike.js';
import { isThenable } from '../../base/calls/timers.js';
import type { PropertyValue } from '../../rows/property.js';
import { allOff, type Off, quiet } from '../channel.js';
import { copyWith } from '../copy-with.js';
import { endingAfter, endingWith } from '../ending.js';
import { failureType, fieldOf } from '../failure.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import type { IncomingHeaders, Propagator } from '../propagator.js';
import { type Classes, type Method, onReturn, type Prototype, replaceMethod } from '../replace-method.js';
import { type FollowedMessage, Messaging, type MessagingOptions, textHeaders } from './messaging.js';

/** Options of the instrumentation `kafkajs`. */
export interface KafkajsOptions extends MessagingOptions, ModuleOptions {}

interface Message {
  readonly headers?: object | undefined;
  readonly offset?: unknown;
  readonly key?: unknown;
  readonly value?: unknown;
}
interface TopicMessages {
  readonly topic?: unknown;
  readonly messages?: unknown;
}
interface EachMessage extends TopicMessages {
  readonly partition?: unknown;
  readonly message?: Message;
}
interface EachBatch {
  readonly batch?: EachMessage;
}

/** What is on: producers and consumers, which are wrapped once, look it up. */
let current: Messaging | undefined;
/** Those that are wrapped. */
const wrapped = new WeakSet<object>();

/** Errors of brokers have a type, others a code or a class; of many tries the last one counts. */
const typeOf = (error: unknown): string => {
  // In kafkajs 1 the original may be a text.
  const last = [fieldOf(error, 'cause'), fieldOf(error, 'originalError')].find((one) => one instanceof Error) ?? error;
  const type = fieldOf(last, 'type');
  return typeof type === 'string' && type !== '' ? type.slice(0, 64) : failureType(last);
};

/** Undefined for what cannot be read: kafkajs gets it as it is, and its span ends with that. */
const withHeaders = quiet((given: TopicMessages, messages: readonly unknown[], headers: object): TopicMessages => {
  const sent = messages.map((message) =>
    typeof message === 'object' && message !== null
      ? copyWith(message, { headers: { ...(message as Message).headers, ...headers } })
      : message,
  );
  return copyWith(given, { messages: sent });
});

interface Begun {
  readonly given: TopicMessages;
  readonly followed?: FollowedMessage | undefined;
}

/** Messages of a topic that are sent together, with the context in the headers of each. */
const withContext = quiet((messaging: Messaging, given: TopicMessages): Begun => {
  const { topic, messages } = Object(given) as TopicMessages;
  if (typeof topic !== 'string' || topic === '' || !Array.isArray(messages)) return { given };
  const list: (string | PropertyValue)[] = ['messaging.destination.name', topic];
  if (messages.length !== 1) list.push('messaging.batch.message_count', messages.length);
  const followed = messaging.startSending({ operation: 'send', destination: topic }, list);
  if (followed?.span === undefined) return { given, followed };
  const headers: Record<string, string> = {};
  messaging.inject(followed.span, (name, value) => {
    headers[name] = value;
  });
  return { given: withHeaders(given, messages, headers) ?? given, followed };
});

interface Sending {
  readonly record: unknown;
  readonly followed: readonly FollowedMessage[];
}

const copyQuietly = quiet(copyWith);

/** The record of `send`, or that of `sendBatch`, which has several topics. */
const beginSending = quiet((record: unknown): Sending | undefined => {
  if (current === undefined || typeof record !== 'object' || record === null) return undefined;
  const messaging = current;
  const { topicMessages } = record as { topicMessages?: unknown };
  const topics = Array.isArray(topicMessages) ? (topicMessages as TopicMessages[]) : [record as TopicMessages];
  // Whatever cannot be read of one of them or of the record: spans that have begun end.
  const begun = topics.map((one): Begun => withContext(messaging, one) ?? { given: one });
  const followed = begun.flatMap((one) => one.followed ?? []);
  if (!Array.isArray(topicMessages)) return { record: begun[0].given, followed };
  return { record: copyQuietly(record, { topicMessages: begun.map(({ given }) => given) }) ?? record, followed };
});

const sending = (send: Method): Method =>
  function (this: unknown, ...args) {
    const messaging = current;
    const begun = beginSending(args[0]);
    if (begun === undefined || messaging === undefined) return Reflect.apply(send, this, args);
    const ended = quiet((error: unknown) => {
      for (const one of begun.followed) messaging.end(one, error === undefined ? undefined : typeOf(error), error);
    });
    return endingAfter(() => Reflect.apply(send, this, [begun.record, ...args.slice(1)]), ended);
  };

/** A producer, or a transaction of one. */
const wrapSender = (sender: unknown): void => {
  if (typeof sender !== 'object' || sender === null || wrapped.has(sender)) return;
  wrapped.add(sender);
  replaceMethod(sender as Prototype, 'send', sending);
  replaceMethod(sender as Prototype, 'sendBatch', sending);
  replaceMethod(
    sender as Prototype,
    'transaction',
    (begin): Method =>
      function (this: unknown, ...args) {
        const result = Reflect.apply(begin, this, args);
        return isThenable(result) ? endingWith(result, seeTransaction) : result;
      },
  );
};

const seeTransaction = quiet((_: unknown, transaction?: unknown) => wrapSender(transaction));

const readHeaders = quiet((message: Message | undefined) => textHeaders(message?.headers));

interface Processing {
  readonly followed: FollowedMessage | 'ignored';
  readonly headers: IncomingHeaders | undefined;
}

const commonOf = (topic: string, partition: unknown, group: unknown): (string | PropertyValue)[] => {
  const list: (string | PropertyValue)[] = ['messaging.destination.name', topic];
  if (partition !== undefined) list.push('messaging.destination.partition.id', String(partition));
  if (typeof group === 'string') list.push('messaging.consumer.group.name', group);
  return list;
};

type Begin = (messaging: Messaging, payload: unknown, group: unknown) => Processing | undefined;

const beginMessage: Begin = (messaging, payload, group) => {
  const { topic, partition, message } = Object(payload) as EachMessage;
  if (typeof topic !== 'string') return undefined;
  const headers = readHeaders(message) ?? {};
  const list = commonOf(topic, partition, group);
  const offset = Number(message?.offset);
  if (message?.offset !== undefined && Number.isSafeInteger(offset)) list.push('messaging.kafka.offset', offset);
  if (message?.value === null) list.push('messaging.kafka.message.tombstone', true);
  return {
    followed: messaging.startProcessing({ operation: 'process', destination: topic }, list, [headers]),
    headers,
  };
};

const beginBatch: Begin = (messaging, payload, group) => {
  const { topic, partition, messages } = Object((Object(payload) as EachBatch).batch) as EachMessage;
  if (typeof topic !== 'string' || !Array.isArray(messages)) return undefined;
  const list = commonOf(topic, partition, group);
  list.push('messaging.batch.message_count', messages.length);
  const headers = messages.map((message) => readHeaders(message) ?? {});
  const followed = messaging.startProcessing({ operation: 'process', destination: topic }, list, headers);
  return { followed, headers: undefined };
};

/** A handler of a consumer of `group`, traced by what is on when it is called. */
const processing = (handler: Method, begin: Begin, group: unknown): Method => {
  const beginSafely = quiet(begin);
  const handling: Method = function (this: unknown, ...args) {
    const messaging = current;
    const begun = messaging === undefined ? undefined : beginSafely(messaging, args[0], group);
    if (begun === undefined || messaging === undefined) return Reflect.apply(handler, this, args);
    const { followed, headers } = begun;
    const ended = quiet((error: unknown) => {
      if (followed !== 'ignored') messaging.end(followed, error === undefined ? undefined : typeOf(error), error);
    });
    return endingAfter(
      () => messaging.runProcessing(followed, headers, () => Reflect.apply(handler, this, args)),
      ended,
    );
  };
  return lookAlike(handling, handler);
};

const HANDLERS: Readonly<Record<string, Begin>> = { eachMessage: beginMessage, eachBatch: beginBatch };

/** What `run` is given, with handlers that are traced. */
const withTraced = quiet((config: unknown, group: unknown): unknown => {
  if (typeof config !== 'object' || config === null) return config;
  let result: object = config;
  for (const [name, begin] of Object.entries(HANDLERS)) {
    const handler = (config as Record<string, unknown>)[name];
    if (typeof handler === 'function')
      result = copyWith(result, { [name]: processing(handler as Method, begin, group) });
  }
  return result;
});

const wrapConsumer = (consumer: unknown, _: unknown, [options]: readonly unknown[]): void => {
  if (typeof consumer !== 'object' || consumer === null || wrapped.has(consumer)) return;
  wrapped.add(consumer);
  const { groupId } = Object(options) as { groupId?: unknown };
  replaceMethod(
    consumer as Prototype,
    'run',
    (run): Method =>
      function (this: unknown, ...args) {
        if (args.length > 0) args[0] = withTraced(args[0], groupId) ?? args[0];
        return Reflect.apply(run, this, args);
      },
  );
};

/** kafkajs 1 and 2. */
export const instrumentKafkajs = (options: KafkajsOptions, propagator: Propagator): Off => {
  const messaging = new Messaging('kafkajs', 'kafka', options, propagator);
  current = messaging;
  const off = onModule<Classes<'Kafka'>>('kafkajs', options.module, ({ Kafka }) =>
    allOff([onReturn(Kafka?.prototype, 'producer', wrapSender), onReturn(Kafka?.prototype, 'consumer', wrapConsumer)]),
  );
  return () => {
    off();
    if (current === messaging) current = undefined;
  };
};
