// Objects of an S3-compatible store are read by requests that the store finds rightly signed, whatever their keys are called.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  BadOptionsError,
  ChangedError,
  GraphError,
  NotFoundError,
  TransportError,
} from '../../../src/container/graph-error.js';
import {
  parseS3Location,
  S3Transport,
  type S3TransportOptions,
  s3Address,
} from '../../../src/container/transport/s3-transport.js';
import { failureOf, thrownBy } from '../support/errors.js';
import { type RangeServer, startRangeServer } from '../support/range-server.js';
import { type Account, keyOfPath, signatureFault } from '../support/signature-v4.js';

const file = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 2_654_435_761) >>> 24));
const account: Account = { accessKeyId: 'TESTKEYID', secretAccessKey: 'test+secret/key', region: 'eu-test-1' };

/** A store with one object. */
let store: RangeServer;
let objectPath: string;
let known: Account;
beforeEach(async () => {
  known = account;
  objectPath = '/traces/2026/07.graph';
  store = await startRangeServer(file);
  store.fault = (request, response) => {
    const url = request.url ?? '';
    const code =
      signatureFault({ method: request.method ?? '', url, headers: request.headers }, known, new Date()) ??
      (keyOfPath(url.split('?')[0]) === objectPath ? undefined : 'NoSuchKey');
    if (code === undefined) return false;
    response.writeHead(code === 'NoSuchKey' ? 404 : 403, { 'content-type': 'application/xml' });
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No: ${code}</Message></Error>`);
    return true;
  };
});
afterEach(() => store.close());

const open = (location = 's3://traces/2026/07.graph', options: S3TransportOptions = {}): Promise<S3Transport> =>
  S3Transport.open(location, { ...account, endpoint: store.origin, ...options });

test('the store of these tests finds right what Amazon publishes as an example, and nothing else', () => {
  const example: Account = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const request = {
    method: 'GET',
    url: '/test.txt',
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      range: 'bytes=0-9',
      'x-amz-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-amz-date': '20130524T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
  };
  const then = new Date('2013-05-24T00:05:00Z');
  expect(signatureFault(request, example, then)).toBeUndefined();
  expect(signatureFault({ ...request, url: '/test.tx' }, example, then)).toBe('SignatureDoesNotMatch');
  expect(signatureFault(request, example, new Date())).toBe('RequestTimeTooSkewed');
});

describe('a request', () => {
  test('is signed for the tail and for ranges, all of one version of the object', async () => {
    const transport = await open();
    expect(await transport.readTail(10)).toEqual({ bytes: file.subarray(-10), offset: 99_990, size: 100_000 });
    const [first, second] = await transport.readRanges([
      { offset: 5, length: 10 },
      { offset: 90_000, length: 10 },
    ]);
    expect([first, second]).toEqual([file.subarray(5, 15), file.subarray(90_000, 90_010)]);
    expect(store.requests[1].headers).toMatchObject({ 'accept-encoding': 'identity' });
    expect(transport.stats()).toEqual({ requests: 3, ranges: 3, bytes: 30 });
    store.etag = '"two"';
    expect(await failureOf(transport.readTail(10))).toBeInstanceOf(ChangedError);
  });

  test('finds keys of all kinds', async () => {
    for (const key of [
      'a b/c+d.graph',
      "it's (one) *file*!",
      'größe/данные/🚀',
      'question?mark#and&percent%20',
      'double//slash',
      '/leading',
      'trailing/',
      '~tilde-_.x',
      'semi;colon:at@equals=comma,dollar$',
    ]) {
      objectPath = `/traces/${key}`;
      const transport = await open(`s3://traces/${key}`);
      expect((await transport.readTail(3)).bytes, key).toEqual(file.subarray(-3));
    }
  });

  test('carries the token of a session', async () => {
    known = { ...account, sessionToken: 'token//with==signs' };
    expect((await failureOf((await open()).readTail(1))).message).toContain('InvalidToken');
    const transport = await open(undefined, { sessionToken: known.sessionToken });
    expect((await transport.readTail(3)).bytes).toEqual(file.subarray(-3));
  });

  test('carries headers of the caller', async () => {
    const transport = await open(undefined, { headers: { 'X-Amz-Request-Payer': 'requester' } });
    await transport.readTail(3);
    expect(store.requests[0].headers['x-amz-request-payer']).toBe('requester');
  });

  test('is signed anew when it is tried again', async () => {
    const { fault } = store;
    store.fault = (request, response, n) => {
      if (n > 1) return fault(request, response, n);
      response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>');
      return true;
    };
    const transport = await open();
    expect((await transport.readTail(3)).bytes).toEqual(file.subarray(-3));
    expect(transport.stats().requests).toBe(2);
  });
});

describe('a refusal', () => {
  test('is told in the words of the store, and never with a secret', async () => {
    const transport = await open(undefined, { secretAccessKey: 'wrong-secret' });
    const failure = await failureOf(transport.readTail(1));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure.message).toContain('403 (SignatureDoesNotMatch: No: SignatureDoesNotMatch)');
    expect(failure.message).not.toContain('wrong-secret');
    expect(JSON.stringify(failure)).not.toContain('wrong-secret');
    expect((await failureOf((await open(undefined, { region: 'other' })).readTail(1))).message).toContain(
      'AuthorizationHeaderMalformed',
    );
  });

  test('is a NotFoundError for an object that is not there', async () => {
    expect(await failureOf((await open('s3://traces/none')).readTail(1))).toBeInstanceOf(NotFoundError);
  });

  test('is what a redirect gets, whose target must not see a signature', async () => {
    const other = await startRangeServer(file);
    store.fault = (_, response) => {
      response.writeHead(307, { location: other.url }).end();
      return true;
    };
    const failure = await failureOf((await open()).readTail(1));
    expect(failure).toBeInstanceOf(TransportError);
    expect(failure.message).toContain('region or endpoint');
    expect(other.requests).toHaveLength(0);
    await other.close();
  });
});

describe('the environment', () => {
  const NAMES = [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_ENDPOINT_URL_S3',
    'AWS_ENDPOINT_URL',
  ];
  let before: Readonly<Record<string, string | undefined>>;
  beforeEach(() => {
    before = Object.fromEntries(NAMES.map((name) => [name, process.env[name]]));
    for (const name of NAMES) delete process.env[name];
  });
  afterEach(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  test('says what the options leave open', async () => {
    known = { ...account, sessionToken: 'session' };
    process.env.AWS_ACCESS_KEY_ID = account.accessKeyId;
    process.env.AWS_SECRET_ACCESS_KEY = account.secretAccessKey;
    process.env.AWS_SESSION_TOKEN = 'session';
    process.env.AWS_REGION = account.region;
    process.env.AWS_ENDPOINT_URL = store.origin;
    const transport = await S3Transport.open('s3://traces/2026/07.graph');
    expect((await transport.readTail(3)).bytes).toEqual(file.subarray(-3));
  });

  test('adds nothing to credentials that are given', async () => {
    process.env.AWS_SESSION_TOKEN = 'of somebody else';
    process.env.AWS_SECRET_ACCESS_KEY = 'of somebody else';
    expect((await (await open()).readTail(3)).bytes).toEqual(file.subarray(-3));
    const half = await failureOf(S3Transport.open('s3://traces/x', { accessKeyId: 'id' }));
    expect(half).toBeInstanceOf(BadOptionsError);
    expect(half.message).toContain('AWS_SECRET_ACCESS_KEY');
  });

  test('may lack the credentials, which is told before anything is asked', async () => {
    expect(await failureOf(S3Transport.open('s3://traces/x', { endpoint: store.origin }))).toBeInstanceOf(
      BadOptionsError,
    );
    expect(store.requests).toHaveLength(0);
  });
});

describe('an address', () => {
  test('follows the bucket, the region and the endpoint', () => {
    const at = (text: string, region: string, endpoint?: string) => s3Address(parseS3Location(text), region, endpoint);
    expect(at('s3://my-bucket/a/b', 'eu-west-1')).toBe('https://my-bucket.s3.eu-west-1.amazonaws.com/a/b');
    expect(at('s3://my.bucket/a', 'eu-west-1')).toBe('https://s3.eu-west-1.amazonaws.com/my.bucket/a');
    expect(at('s3://my-bucket/a', 'cn-north-1')).toBe('https://my-bucket.s3.cn-north-1.amazonaws.com.cn/a');
    expect(at('s3://bkt/a b', 'any', 'http://host:9000/')).toBe('http://host:9000/bkt/a%20b');
  });

  test('must be one', () => {
    for (const text of [
      's3://bucket',
      's3://bucket/',
      's3:///key',
      's3://b:1/key',
      's3://bucket/a/../b',
      'http://x/y',
    ]) {
      expect(
        thrownBy(() => parseS3Location(text)),
        text,
      ).toBeInstanceOf(BadOptionsError);
    }
    const location = parseS3Location('s3://bucket/key');
    expect(thrownBy(() => s3Address(location, 'evil.com/', undefined))).toBeInstanceOf(BadOptionsError);
    expect(thrownBy(() => s3Address(location, 'x', 'host:9000'))).toBeInstanceOf(GraphError);
  });
});
