// Descriptions of calls to the services of AWS: names and properties of their spans, and how a context travels with a message. What a program hands
// over stays as it is, and no value of it leaves but names of tables, buckets, queues, topics and functions.
import type { PropertyValue } from '../../rows/property.js';
import { quiet } from '../channel.js';
import { boundedName } from '../client-span.js';
import { copyWith } from '../copy-with.js';
import { textHeaders } from '../messaging/messaging.js';
import type { IncomingHeaders } from '../propagator.js';

/** What a command is called with, or what it gave. */
export type Fields = Readonly<Record<string, unknown>>;

type Properties = readonly (string | PropertyValue)[];

/** A call to a service. */
export interface Described {
  /** The span's, where the conventions have another one than `Service.Operation`. */
  readonly name?: string;
  readonly kind?: 'producer';
  readonly properties: Properties;
  /** A copy of the input with `headers`; undefined where there is no place for them. */
  readonly withContext?: (input: Fields, headers: Readonly<Record<string, string>>) => Fields | undefined;
  /** Headers of the messages that came with the answer: of a call that waits for some. */
  readonly messagesIn?: (output: Fields) => readonly IncomingHeaders[];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? (value as Fields[]) : []);

/** The name at the end of an address or an ARN. */
const lastOf = (place: unknown): string => textOf(place).split(/[/:]/).at(-1) ?? '';

interface Attribute {
  readonly DataType?: unknown;
  readonly StringValue?: unknown;
}

/** SQS takes no more, and SNS hands no more on to it. */
const MAX_ATTRIBUTES = 10;

/** A message with `headers` among its attributes, as far as there is place. Those of the program stay. */
const withAttributes = (message: Fields, headers: Readonly<Record<string, string>>): Fields => {
  const attributes: Record<string, unknown> = { ...(message.MessageAttributes as object | undefined) };
  for (const [name, value] of Object.entries(headers)) {
    if (name in attributes || value === '' || Object.keys(attributes).length >= MAX_ATTRIBUTES) continue;
    attributes[name] = { DataType: 'String', StringValue: value };
  }
  return copyWith(message, { MessageAttributes: attributes });
};

const withEntries =
  (key: string) =>
  (input: Fields, headers: Readonly<Record<string, string>>): Fields =>
    copyWith(input, { [key]: listOf(input[key]).map((entry) => withAttributes(entry, headers)) });

/** Attributes have to be asked for. */
const withNames = (input: Fields, headers: Readonly<Record<string, string>>): Fields => {
  const names = Array.isArray(input.MessageAttributeNames) ? (input.MessageAttributeNames as string[]) : [];
  if (names.includes('All') || names.includes('.*')) return input;
  return copyWith(input, { MessageAttributeNames: [...new Set([...names, ...Object.keys(headers), 'tracestate'])] });
};

const headersIn = ({ MessageAttributes }: Fields): IncomingHeaders =>
  textHeaders(
    Object.fromEntries(
      Object.entries(Object(MessageAttributes) as Record<string, Attribute>).map(([name, { StringValue }]) => [
        name,
        StringValue,
      ]),
    ),
  );

const messaging = (system: string, operation: string, type: string, destination: string): Properties => [
  'messaging.system',
  system,
  'messaging.operation.name',
  operation,
  'messaging.operation.type',
  type,
  'messaging.destination.name',
  destination,
];

const sending = (system: string, destination: string, count?: number): Described => ({
  name: `send ${destination}`.trim(),
  kind: 'producer',
  properties: [
    ...messaging(system, 'send', 'send', destination),
    ...(count === undefined ? [] : ['messaging.batch.message_count', count]),
  ],
});

const sqs = (operation: string, input: Fields): Described | undefined => {
  const queue = lastOf(input.QueueUrl);
  if (operation === 'SendMessage') return { ...sending('aws_sqs', queue), withContext: withAttributes };
  if (operation === 'SendMessageBatch')
    return { ...sending('aws_sqs', queue, listOf(input.Entries).length), withContext: withEntries('Entries') };
  if (operation !== 'ReceiveMessage') return undefined;
  return {
    name: `receive ${queue}`.trim(),
    properties: messaging('aws_sqs', 'receive', 'receive', queue),
    withContext: withNames,
    messagesIn: ({ Messages }) => listOf(Messages).map(headersIn),
  };
};

const sns = (operation: string, input: Fields): Described | undefined => {
  // Of a message to a phone the number is nobody's business.
  const topic = lastOf(input.TopicArn ?? input.TargetArn);
  if (operation === 'Publish') return { ...sending('aws.sns', topic), withContext: withAttributes };
  if (operation !== 'PublishBatch') return undefined;
  const count = listOf(input.PublishBatchRequestEntries).length;
  return { ...sending('aws.sns', topic, count), withContext: withEntries('PublishBatchRequestEntries') };
};

/** A batch has no more items. */
const MAX_TABLES = 100;

const tablesIn = (input: Fields): readonly string[] => {
  const { TableName, RequestItems, TransactItems } = input;
  if (typeof TableName === 'string') return [TableName];
  if (typeof RequestItems === 'object' && RequestItems !== null) return Object.keys(RequestItems);
  const items = listOf(TransactItems).flatMap((item) => Object.values(item) as Fields[]);
  return [...new Set(items.flatMap((item) => textOf(Object(item).TableName) || []))];
};

const dynamodb = (operation: string, input: Fields): Described => {
  const tables = tablesIn(input);
  const properties: (string | PropertyValue)[] = ['db.system.name', 'aws.dynamodb', 'db.operation.name', operation];
  if (tables.length === 1) properties.push('db.collection.name', tables[0]);
  if (tables.length > 0) properties.push('aws.dynamodb.table_names', tables.slice(0, MAX_TABLES).map(boundedName));
  return { name: tables.length === 1 ? `${operation} ${tables[0]}` : operation, properties };
};

/** As it is handed to a function, in text of base64; Lambda takes no more than that. */
const MAX_CONTEXT_CHARACTERS = 3583;

const withClientContext = quiet((input: Fields, headers: Readonly<Record<string, string>>): Fields | undefined => {
  const given = textOf(input.ClientContext);
  const context = (given === '' ? {} : JSON.parse(Buffer.from(given, 'base64').toString())) as Fields;
  const custom = { ...headers, ...(context.custom as object | undefined) };
  const text = Buffer.from(JSON.stringify({ ...context, custom })).toString('base64');
  return text.length > MAX_CONTEXT_CHARACTERS ? undefined : copyWith(input, { ClientContext: text });
});

const lambda = (operation: string, input: Fields): Described | undefined => {
  if (operation !== 'Invoke') return undefined;
  // A version may stand behind it.
  const place = textOf(input.FunctionName);
  const name = /^arn:[^:]*:lambda:[^:]*:[^:]*:function:([^:]+)/.exec(place)?.[1] ?? place.split(':')[0];
  const properties = ['faas.invoked_name', name, 'faas.invoked_provider', 'aws'];
  return { properties, withContext: withClientContext };
};

const s3 = (_operation: string, { Bucket }: Fields): Described => ({
  properties: typeof Bucket === 'string' ? ['aws.s3.bucket', Bucket] : [],
});

const SERVICES: Readonly<Record<string, (operation: string, input: Fields) => Described | undefined>> = {
  SQS: sqs,
  SNS: sns,
  DynamoDB: dynamodb,
  Lambda: lambda,
  S3: s3,
};

const NOTHING: Described = { properties: [] };

/** The description of a call. */
export const described = (service: string, operation: string, input: Fields): Described =>
  SERVICES[service]?.(operation, input) ?? NOTHING;
