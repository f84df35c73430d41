// Calls of the AWS SDK 3: of S3 and DynamoDB against servers that do what those do, of SQS, SNS and Lambda against one that says what those would.
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Span, type SpanRecord, stats } from '../../src/index.js';
import { instrument } from '../../src/instrument/index.js';
import { library } from './libraries.js';
import { ALL_OFF, askedBySixteen, contextsOf, eachItsOwn, instrumentOnly, later, recorded, serve } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const SECRET = 'hunter2';
const ACCESS = { region: 'eu-west-1', credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' } };

const inRoot = <T>(work: () => T): T => Span.root('request').runToEnd(work);

const clientOf = (module: string, name: string, options: object): Untyped => {
  const client = new (library(module)[name])({ ...ACCESS, ...options });
  later(() => client.destroy());
  return client;
};

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** But for the request, and what HTTP has below. */
const calls = (spans: readonly SpanRecord[]): SpanRecord[] =>
  spans.filter(({ scope }) => scope?.name === 'spanline/instrument/aws-sdk');

test('what a client refuses leaves no span open, nor what gives nothing', async () => {
  instrumentOnly({ 'aws-sdk': true });
  // Nothing goes out: whatever is sent would end in a later test.
  const requestHandler = { handle: () => Promise.reject(new Error('nobody is there')), destroy: () => {} };
  const client = clientOf('@aws-sdk/client-sqs', 'SQSClient', { requestHandler, maxAttempts: 1 });
  const { SendMessageCommand } = library('@aws-sdk/client-sqs');
  await expect(async () => client.send({})).rejects.toThrow('resolveMiddleware');
  // It takes anything for a callback.
  expect(client.send(new SendMessageCommand({}), {}, 7)).toBe(undefined);
  expect((await recorded()).map(({ name, status }) => [name, status.code])).toEqual([
    ['SQS.Object', 'error'],
    ['send', 'unset'],
  ]);
  expect(stats().collector.openTraces).toBe(0);
});

describe('S3', () => {
  let server: Untyped;
  let port = 0;
  const folder = mkdtempSync(join(tmpdir(), 'spanline-s3-'));
  beforeAll(async () => {
    server = new (library('s3rver'))({ port: 0, address: '127.0.0.1', silent: true, directory: folder });
    ({ port } = await server.run());
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const s3 = (): Untyped =>
    clientOf('@aws-sdk/client-s3', 'S3', { endpoint: `http://127.0.0.1:${port}`, forcePathStyle: true });

  test('a call is a span with its request below, in each of its forms', async () => {
    instrumentOnly({ 'aws-sdk': true, http: { server: false } });
    const client = s3();
    const { CreateBucketCommand, PutObjectCommand } = library('@aws-sdk/client-s3');
    await inRoot(async () => {
      await client.send(new CreateBucketCommand({ Bucket: 'orders' }));
      const put = new PutObjectCommand({ Bucket: 'orders', Key: SECRET, Body: SECRET });
      await new Promise((resolve, reject) =>
        client.send(put, (error: unknown) => (error ? reject(error) : resolve(undefined))),
      );
      const { Body } = await client.getObject({ Bucket: 'orders', Key: SECRET });
      expect(await Body.transformToString()).toBe(SECRET);
    });
    const spans = await recorded();
    const root = spans.find(({ name }) => name === 'request');
    const made = calls(spans);
    expect(made.map(({ name, kind, parentSpanId }) => [name, kind, parentSpanId === root?.spanId])).toEqual([
      ['S3.CreateBucket', 'client', true],
      ['S3.PutObject', 'client', true],
      ['S3.GetObject', 'client', true],
    ]);
    expect(made[1].properties).toEqual({
      'rpc.system.name': 'aws-api',
      'rpc.method': 'S3/PutObject',
      'aws.s3.bucket': 'orders',
      'cloud.region': 'eu-west-1',
      'http.response.status_code': 200,
    });
    const requests = spans.filter(({ name }) => name === 'PUT' || name === 'GET');
    expect(requests.map(({ parentSpanId }) => parentSpanId)).toEqual(made.map(({ spanId }) => spanId));
  });

  test('a failure is its own, has the name that the service gave it, and no word of its message', async () => {
    instrumentOnly({ 'aws-sdk': true });
    const client = s3();
    const error = await inRoot(() => client.getObject({ Bucket: 'nothing', Key: SECRET })).catch((one: unknown) => one);
    expect(error).toMatchObject({ name: 'NoSuchBucket' });
    const [span] = calls(await recorded());
    expect(span).toMatchObject({ name: 'S3.GetObject', status: { code: 'error', message: 'NoSuchBucket' } });
    expect(span.properties).toMatchObject({ 'error.type': 'NoSuchBucket', 'http.response.status_code': 404 });
    expect(JSON.stringify(span)).not.toContain(SECRET);
  });

  test('callbacks come in the context of the caller', async () => {
    instrumentOnly({ 'aws-sdk': true });
    const client = s3();
    expect(
      await contextsOf((note, done) => {
        client.listBuckets({}, () => note('callback', () => client.listBuckets({}).then(() => note('promise', done))));
      }),
    ).toEqual(['callback: own', 'promise: own']);
  });

  test('ignored, enriched, without a parent; and as it was when taken back', async () => {
    const seen: unknown[] = [];
    const { prototype } = library('@smithy/core/client').Client;
    const { send } = prototype;
    const { disable } = instrument({
      ...ALL_OFF,
      'aws-sdk': {
        requireParent: true,
        ignore: ({ operation }) => operation === 'CreateBucket',
        enrich: (span, call, error) => void seen.push([span.name, call, error]),
      },
    });
    later(disable);
    const client = s3();
    await client.listBuckets({});
    await inRoot(async () => {
      await client.createBucket({ Bucket: 'others' });
      await client.listBuckets({});
    });
    disable();
    await client.listBuckets({});
    expect(prototype.send).toBe(send);
    expect(seen).toEqual([['S3.ListBuckets', { service: 'S3', operation: 'ListBuckets' }, undefined]]);
    expect(calls(await recorded())).toHaveLength(1);
  });
});

describe('DynamoDB', () => {
  const module = '@aws-sdk/client-dynamodb';
  let endpoint = '';
  let server: Server;
  beforeAll(async () => {
    server = library('dynalite')({ createTableMs: 0 }) as Server;
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    endpoint = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
    const client = new (library(module).DynamoDB)({ ...ACCESS, endpoint });
    await client.createTable({
      TableName: 'users',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    });
    client.destroy();
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test('a call is that to a database, with its table', async () => {
    instrumentOnly({ 'aws-sdk': { module: library(module) } });
    const client = clientOf(module, 'DynamoDB', { endpoint });
    const Item = { id: { S: SECRET } };
    await inRoot(async () => {
      await client.putItem({ TableName: 'users', Item });
      const found = await client.batchGetItem({ RequestItems: { users: { Keys: [Item] } } });
      expect(found.Responses.users).toEqual([Item]);
    });
    const [root, ...spans] = await recorded();
    expect(spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ['PutItem users', root.spanId],
      ['BatchGetItem users', root.spanId],
    ]);
    expect(spans[0].properties).toMatchObject({
      'rpc.method': 'DynamoDB/PutItem',
      'db.system.name': 'aws.dynamodb',
      'db.operation.name': 'PutItem',
      'db.collection.name': 'users',
      'aws.dynamodb.table_names': ['users'],
      'cloud.region': 'eu-west-1',
    });
    expect(JSON.stringify(spans)).not.toContain(SECRET);
  });

  test('a name of a table is bounded, and so is the list of them', async () => {
    instrumentOnly({ 'aws-sdk': { module: library(module) } });
    const client = clientOf(module, 'DynamoDB', { endpoint });
    const RequestItems = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`table-${i}`, { Keys: [] }]));
    await inRoot(() => client.getItem({ TableName: 't'.repeat(1000), Key: { id: { S: 'a' } } }).catch(() => {}));
    await inRoot(() => client.batchGetItem({ RequestItems }).catch(() => {}));
    const [one, many] = (await recorded()).filter(({ name }) => name !== 'request');
    expect(one.name).toHaveLength(255);
    expect(one.properties['db.collection.name']).toBe('t'.repeat(255));
    expect(one.properties['aws.dynamodb.table_names']).toEqual(['t'.repeat(255)]);
    expect(many.properties['aws.dynamodb.table_names']).toHaveLength(100);
  });

  test('sixteen at once, each in its own trace', async () => {
    instrumentOnly({ 'aws-sdk': { module: library(module) } });
    const client = clientOf(module, 'DynamoDB', { endpoint });
    const asked = await askedBySixteen(
      (i) => client.getItem({ TableName: 'users', Key: { id: { S: String(i) } } }),
      ({ scope }) => scope?.name,
    );
    expect(asked).toEqual(eachItsOwn(() => 'spanline/instrument/aws-sdk'));
  });
});

describe('messages', () => {
  interface Asked {
    readonly target: string;
    readonly body: string;
    readonly headers: Record<string, unknown>;
  }
  const asked: Asked[] = [];
  let queued: Untyped[] = [];

  /** What SQS, SNS and Lambda would say. */
  const answers = async (): Promise<string> => {
    asked.length = 0;
    const { url } = await serve((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        const target = String(request.headers['x-amz-target'] ?? request.url);
        asked.push({ target, body, headers: request.headers });
        if (target === 'AmazonSQS.SendMessage') {
          const { MessageBody } = JSON.parse(body) as { MessageBody: string };
          const MD5OfMessageBody = md5(MessageBody);
          response.end(JSON.stringify({ MessageId: 'id-1', MD5OfMessageBody }));
        } else if (target === 'AmazonSQS.SendMessageBatch') response.end('{"Successful":[],"Failed":[]}');
        else if (target === 'AmazonSQS.ReceiveMessage') response.end(JSON.stringify({ Messages: queued }));
        else if (body.includes('Action=Publish')) {
          response.end('<R xmlns="http://sns"><PublishResult><MessageId>id-2</MessageId></PublishResult></R>');
        } else response.setHeader('x-amzn-requestid', 'id-3').end('null');
      });
    });
    return url;
  };
  const QUEUE = 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders';

  test('sent to SQS they carry the context, and are linked where they are received', async () => {
    const endpoint = await answers();
    instrumentOnly({ 'aws-sdk': true });
    const client = clientOf('@aws-sdk/client-sqs', 'SQS', { endpoint, useQueueUrlAsEndpoint: false });
    const input = { QueueUrl: QUEUE, MessageBody: SECRET };
    await inRoot(() => client.sendMessage(input));
    expect(input).toEqual({ QueueUrl: QUEUE, MessageBody: SECRET });
    const full = Object.fromEntries(
      Array.from({ length: 10 }, (_, i) => [`a${i}`, { DataType: 'String', StringValue: 'b' }]),
    );
    const entries = [
      { Id: '1', MessageBody: 'a' },
      { Id: '2', MessageBody: 'b', MessageAttributes: full },
    ];
    await inRoot(() => client.sendMessageBatch({ QueueUrl: QUEUE, Entries: entries }));
    const [one, batch] = asked.map(({ body }) => JSON.parse(body));
    const sent = calls(await recorded());
    const contextOf = ({ traceId, spanId }: SpanRecord) => `00-${traceId}-${spanId}-03`;
    expect(one.MessageAttributes.traceparent).toEqual({ DataType: 'String', StringValue: contextOf(sent[0]) });
    expect(batch.Entries[0].MessageAttributes.traceparent.StringValue).toBe(contextOf(sent[1]));
    expect(batch.Entries[1].MessageAttributes).toEqual(full);
    expect(sent.map(({ name, kind }) => [name, kind])).toEqual([
      ['send orders', 'producer'],
      ['send orders', 'producer'],
    ]);
    expect(sent[1].properties).toMatchObject({
      'messaging.system': 'aws_sqs',
      'messaging.operation.name': 'send',
      'messaging.operation.type': 'send',
      'messaging.destination.name': 'orders',
      'messaging.batch.message_count': 2,
      'rpc.method': 'SQS/SendMessageBatch',
    });
    const received = (Body: string, more: object = {}) => ({ Body, MD5OfBody: md5(Body), ...more });
    queued = [received(SECRET, { MessageAttributes: one.MessageAttributes }), received('b')];
    const { Messages } = await inRoot(() => client.receiveMessage({ QueueUrl: QUEUE }));
    expect(Messages).toHaveLength(2);
    expect(JSON.parse(asked[2].body).MessageAttributeNames).toEqual(['traceparent', 'tracestate']);
    const [receiving] = calls(await recorded());
    expect(receiving).toMatchObject({ name: 'receive orders', kind: 'client' });
    expect(receiving.properties['messaging.batch.message_count']).toBe(2);
    expect(receiving.links.map(({ traceId, spanId }) => [traceId, spanId])).toEqual([
      [sent[0].traceId, sent[0].spanId],
    ]);
    expect(JSON.stringify([sent, receiving])).not.toContain(SECRET);
  });

  test('an input may be of a class of the program', async () => {
    const endpoint = await answers();
    instrumentOnly({ 'aws-sdk': true });
    const client = clientOf('@aws-sdk/client-sqs', 'SQS', { endpoint, useQueueUrlAsEndpoint: false });
    class Mail {
      readonly #text = 'a';
      readonly QueueUrl = QUEUE;
      get MessageBody(): string {
        return this.#text;
      }
    }
    await client.sendMessage(new Mail());
    await client.sendMessageBatch({ QueueUrl: QUEUE, Entries: [Object.assign(new Mail(), { Id: '1' })] });
    const [one, { Entries: entries }] = asked.map(({ body }) => JSON.parse(body));
    for (const sent of [one, ...entries]) {
      expect(sent.MessageBody).toBe('a');
      expect(Object.keys(sent.MessageAttributes)).toEqual(['traceparent']);
    }
  });

  test('a worker that waits for messages makes a trace only when some come', async () => {
    const endpoint = await answers();
    instrumentOnly({ 'aws-sdk': true, http: { server: false } });
    const client = clientOf('@aws-sdk/client-sqs', 'SQS', { endpoint, useQueueUrlAsEndpoint: false });
    queued = [];
    await client.receiveMessage({ QueueUrl: QUEUE, WaitTimeSeconds: 1 });
    await inRoot(() => client.receiveMessage({ QueueUrl: QUEUE }));
    queued = [{ Body: 'a', MD5OfBody: md5('a') }];
    await client.receiveMessage({ QueueUrl: QUEUE, MessageAttributeNames: ['All'] });
    expect(JSON.parse(asked[2].body).MessageAttributeNames).toEqual(['All']);
    expect((await recorded()).map(({ name }) => name).sort()).toEqual(
      ['POST', 'POST', 'receive orders', 'receive orders', 'request'].sort(),
    );
  });

  test('sent to SNS and to a function of Lambda they carry it too', async () => {
    const endpoint = await answers();
    instrumentOnly({ 'aws-sdk': true });
    const sns = clientOf('@aws-sdk/client-sns', 'SNS', { endpoint });
    const lambda = clientOf('@aws-sdk/client-lambda', 'Lambda', { endpoint });
    await inRoot(() => sns.publish({ TopicArn: 'arn:aws:sns:eu-west-1:123456789012:paid', Message: SECRET }));
    await inRoot(() => sns.publish({ PhoneNumber: '+49123', Message: SECRET }));
    const ClientContext = Buffer.from(JSON.stringify({ custom: { own: 1 }, env: {} })).toString('base64');
    await inRoot(() => lambda.invoke({ FunctionName: 'bill:live', Payload: SECRET, ClientContext }));
    const spans = calls(await recorded());
    expect(spans.map(({ name, kind }) => [name, kind])).toEqual([
      ['send paid', 'producer'],
      ['send', 'producer'],
      ['Lambda.Invoke', 'client'],
    ]);
    expect(spans[0].properties).toMatchObject({ 'messaging.system': 'aws.sns', 'messaging.destination.name': 'paid' });
    expect(spans[2].properties).toMatchObject({
      'aws.request_id': 'id-3',
      'faas.invoked_name': 'bill',
      'faas.invoked_provider': 'aws',
    });
    const published = new URLSearchParams(asked[0].body);
    expect(published.get('MessageAttributes.entry.1.Name')).toBe('traceparent');
    expect(published.get('MessageAttributes.entry.1.Value.StringValue')).toContain(spans[0].spanId);
    const context = JSON.parse(Buffer.from(String(asked[2].headers['x-amz-client-context']), 'base64').toString());
    expect(context).toEqual({ env: {}, custom: { own: 1, traceparent: expect.stringContaining(spans[2].spanId) } });
    expect(JSON.stringify(spans)).not.toContain(SECRET);
    expect(JSON.stringify(spans)).not.toContain('49123');
  });
});
