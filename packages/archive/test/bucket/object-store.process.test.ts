// Objects of a real S3 server are written on conditions that hold, listed whole and read by ranges, through lost answers, resets, refusals and wrong clocks;
// and what is refused for good says why, and shows no secret.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { ChangedError, NotFoundError, TransportError } from '@spanline/graph';
import { timers } from 'spanline/internal/base';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { describeBucket } from '../../../../test/support/versitygw.js';
import type { BucketError, BucketErrorCode } from '../../src/bucket/bucket-error.js';
import {
  type ObjectStore,
  type ObjectStoreOptions,
  openObjectStore,
  parseBucketLocation,
} from '../../src/bucket/object-store.js';
import { listPageOf } from '../../src/bucket/s3-xml.js';
import { type StoreProxy, startStoreProxy } from './support/store-proxy.js';

const failureOf = async (work: Promise<unknown>): Promise<BucketError> => {
  try {
    await work;
  } catch (error) {
    return error as BucketError;
  }
  throw new Error('it did not fail');
};

const expectCode = (error: BucketError, code: string): void =>
  expect([error.code, error.message]).toEqual([`ERR_SPANLINE_BUCKET_${code}` as BucketErrorCode, error.message]);

const all = async (store: ObjectStore, prefix: string, startAfter?: string): Promise<string[]> => {
  const keys: string[] = [];
  for await (const page of store.list(prefix, { startAfter })) keys.push(...page.map(({ key }) => key));
  return keys;
};

const text = (found: Awaited<ReturnType<ObjectStore['get']>>): string =>
  typeof found === 'object' ? found.bytes.toString() : String(found);

describeBucket('a store', (server) => {
  let proxy: StoreProxy;
  let prefix: string;
  const opened: ObjectStore[] = [];
  beforeEach(async () => {
    proxy = await startStoreProxy(server().endpoint);
    prefix = `test ${randomBytes(4).toString('hex')}/ä`;
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) store.close();
    await proxy.close();
  });

  const open = (options: ObjectStoreOptions = {}, location = `s3://traces/${prefix}`): ObjectStore => {
    const { accessKeyId, secretAccessKey, region } = server();
    const store = openObjectStore(location, {
      region,
      endpoint: proxy.endpoint,
      credentials: async () => ({ accessKeyId, secretAccessKey }),
      firstDelayMs: 1,
      ...options,
    });
    opened.push(store);
    return store;
  };

  describe('a condition', () => {
    test('of absence holds once', async () => {
      const store = open();
      const first = await store.put('catalogue.json', Buffer.from('one'), { ifAbsent: true });
      expect(first?.etag).toMatch(/^".+"$/);
      expect(await store.put('catalogue.json', Buffer.from('two'), { ifAbsent: true })).toBeUndefined();
      const found = await store.get('catalogue.json');
      expect(found).toEqual({ bytes: Buffer.from('one'), etag: first?.etag });
      expect(await store.get('catalogue.json', { ifNoneMatch: first?.etag })).toBe('unchanged');
      expect(await store.get('nothing')).toBeUndefined();
    });

    test('of a version holds for that version', async () => {
      const store = open();
      const first = await store.put('a', Buffer.from('one'));
      const second = await store.put('a', Buffer.from('two'), { ifMatch: first?.etag });
      expect(second).toBeDefined();
      expect(await store.put('a', Buffer.from('three'), { ifMatch: first?.etag })).toBeUndefined();
      expect(await store.put('none', Buffer.from('three'), { ifMatch: first?.etag })).toBeUndefined();
      expect(text(await store.get('a'))).toBe('two');
    });

    test('holds for exactly one of two that race, 100 times', async () => {
      const [a, b] = [open(), open()];
      for (let round = 0; round < 100; round++) {
        const key = `race/${round}`;
        const created = await Promise.all(
          [a, b].map((store, i) => store.put(key, Buffer.from(`${i}`), { ifAbsent: true })),
        );
        expect(created.filter((one) => one !== undefined)).toHaveLength(1);
        const winner = created.findIndex((one) => one !== undefined);
        expect(text(await a.get(key))).toBe(`${winner}`);
        const etag = created[winner]?.etag;
        const replaced = await Promise.all(
          [a, b].map((store, i) => store.put(key, Buffer.from(`again ${i}`), { ifMatch: etag })),
        );
        expect(replaced.filter((one) => one !== undefined)).toHaveLength(1);
        expect(text(await b.get(key))).toBe(`again ${replaced.findIndex((one) => one !== undefined)}`);
      }
    });

    test('is true for a write whose answer was lost, and false where another was quicker', async () => {
      const store = open();
      proxy.trouble = ({ method, n }) => (method === 'PUT' && n === 1 ? { kind: 'lost' } : undefined);
      expect(await store.put('a', Buffer.from('mine'), { ifAbsent: true })).toBeDefined();
      expect(store.stats().retries).toBe(1);
      const other = open({ endpoint: server().endpoint });
      await other.put('b', Buffer.from('theirs'));
      proxy.trouble = ({ n }) => (n === 4 ? { kind: 'reset' } : undefined);
      expect(proxy.requests).toHaveLength(3);
      expect(await store.put('b', Buffer.from('mine'), { ifAbsent: true })).toBeUndefined();
      expect(text(await store.get('b'))).toBe('theirs');
    });

    test('is not answered by a server that knows no such page: what was not written must not look as if it was there', async () => {
      const store = open({ retries: 0 });
      proxy.trouble = () => ({ kind: 'answer', status: 404, code: 'NotFound' });
      expectCode(await failureOf(store.put('fresh/a', Buffer.from('spans'), { ifAbsent: true })), 'REFUSED');
      expectCode(await failureOf(store.put('fresh/a', Buffer.from('spans'))), 'REFUSED');
      expectCode(await failureOf(store.put('a', Buffer.from('spans'), { ifMatch: '"1"' })), 'REFUSED');
      proxy.trouble = () => ({ kind: 'answer', status: 404, code: 'NoSuchBucket' });
      expectCode(await failureOf(store.put('fresh/a', Buffer.from('spans'), { ifAbsent: true })), 'MISSING');
    });

    test('is true for a replacement whose answer was lost', async () => {
      const store = open();
      const first = await store.put('a', Buffer.from('one'));
      proxy.trouble = ({ n }) => (n === 2 ? { kind: 'lost' } : undefined);
      expect(await store.put('a', Buffer.from('two'), { ifMatch: first?.etag })).toBeDefined();
      expect(text(await store.get('a'))).toBe('two');
    });
  });

  describe('a list', () => {
    const keys = Array.from({ length: 25 }, (_, i) => `fresh/2026-11-27T${String(i).padStart(2, '0')}/seg & <${i}>`);

    test('has all pages, from a key on', async () => {
      const store = open({ pageSize: 4 });
      for (const key of keys) await store.put(key, Buffer.from(key));
      await store.put('generations/1', Buffer.from('x'));
      expect(await all(store, 'fresh/')).toEqual(keys);
      expect(await all(store, 'fresh/', keys[20])).toEqual(keys.slice(21));
      expect(await all(store, 'fresh/', 'fresh/2026-11-27T10')).toEqual(keys.slice(10));
      expect(await all(store, 'none/')).toEqual([]);
      const { value: page = [] } = await store.list('generations/').next();
      expect(page).toMatchObject([{ key: 'generations/1', size: 1 }]);
      expect(Math.abs(page[0].lastModifiedMs - store.clockMs())).toBeLessThan(60_000);
    });

    test('fails when a page cannot be had or be read', async () => {
      const store = open({ pageSize: 4, retries: 1 });
      for (const key of keys.slice(0, 6)) await store.put(key, Buffer.from(key));
      proxy.trouble = ({ url }) =>
        url.includes('continuation-token') ? { kind: 'answer', status: 503, code: 'SlowDown' } : undefined;
      expectCode(await failureOf(all(store, 'fresh/')), 'UNAVAILABLE');
      proxy.trouble = () => ({ kind: 'answer', status: 200, code: 'Surprise' });
      expectCode(await failureOf(all(store, 'fresh/')), 'REFUSED');
    });

    test('of a thousand objects is read, with what XML has for their signs', () => {
      const objects = Array.from({ length: 1000 }, (_, i) => ({
        key: `a&b<${i}>"ä`,
        size: i,
        etag: `"e${i}"`,
        lastModifiedMs: 1_000 * i,
      }));
      const contents = objects.map(
        ({ key, size, etag, lastModifiedMs }) =>
          `<Contents><Key>${key.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&#62;')}</Key><Size>${size}</Size><ETag>${etag.replaceAll('"', '&quot;')}</ETag><LastModified>${new Date(lastModifiedMs).toISOString()}</LastModified></Contents>`,
      );
      const xml = (rest: string): Buffer =>
        Buffer.from(`<?xml version="1.0"?><ListBucketResult xmlns="x">${contents.join('')}${rest}</ListBucketResult>`);
      expect(listPageOf(xml('<IsTruncated>false</IsTruncated>'))).toEqual({ objects, next: undefined });
      expect(
        listPageOf(xml('<IsTruncated>true</IsTruncated><NextContinuationToken>a+b=</NextContinuationToken>'))?.next,
      ).toBe('a+b=');
      // One that goes on and does not say where is not the last.
      expect(listPageOf(xml('<IsTruncated>true</IsTruncated>'))).toBeUndefined();
      expect(listPageOf(Buffer.from('<html>'))).toBeUndefined();
    });
  });

  test('is read by another client as it was written, and lists what that wrote', async () => {
    const store = open();
    const bytes = randomBytes(100_000);
    await store.put('segments/a b+c', bytes);
    const { accessKeyId, secretAccessKey, region, endpoint } = server();
    const client = new S3Client({
      region,
      endpoint,
      credentials: { accessKeyId, secretAccessKey },
      forcePathStyle: true,
    });
    const { Body, ETag } = await client.send(
      new GetObjectCommand({ Bucket: 'traces', Key: `${prefix}/segments/a b+c` }),
    );
    expect(Buffer.from((await Body?.transformToByteArray()) ?? [])).toEqual(bytes);
    const found = await store.get('segments/a b+c');
    expect(typeof found === 'object' && found.etag).toBe(ETag);
    const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: 'traces', Prefix: `${prefix}/` }));
    expect(Contents?.map(({ Key }) => Key)).toEqual([`${prefix}/segments/a b+c`]);
    client.destroy();
  });

  test('deletes what is there', async () => {
    const store = open();
    for (const key of ['a', 'b', 'c']) await store.put(key, Buffer.from(key));
    await store.delete(['a', 'none', 'c']);
    expect(await all(store, '')).toEqual(['b']);
  });

  test('at the root of a bucket has no prefix', async () => {
    const store = open({}, 's3://traces');
    expect(store.name).toBe('s3://traces');
    await store.put('at-the-root', Buffer.from('x'));
    expect(await all(store, 'at-the')).toEqual(['at-the-root']);
    await store.delete(['at-the-root']);
  });

  describe('trouble', () => {
    test('that passes is waited for', async () => {
      const store = open();
      const bytes = randomBytes(300_000);
      const troubles = [
        { kind: 'answer', status: 503, code: 'SlowDown' },
        { kind: 'answer', status: 500, code: 'InternalError' },
        { kind: 'reset' },
        { kind: 'half' },
      ] as const;
      proxy.trouble = ({ n }) => troubles[n - 1];
      await store.put('a', bytes, { ifAbsent: true });
      expect(proxy.requests).toHaveLength(5);
      const cuts = [{ kind: 'cut', bytes: 1000 }, { kind: 'lost' }] as const;
      proxy.trouble = ({ n }) => cuts[n - 6];
      const found = await store.get('a');
      expect(typeof found === 'object' && found.bytes.equals(bytes)).toBe(true);
      expect(store.stats()).toMatchObject({ requests: 8, retries: 6 });
    });

    test('that does not pass is told, with the attempts', async () => {
      const store = open({ retries: 2 });
      proxy.trouble = () => ({ kind: 'reset' });
      const failure = await failureOf(store.get('a'));
      expectCode(failure, 'UNAVAILABLE');
      expect(failure.message).toContain('given up after 3 attempts');
    });

    test('of an answer that does not come ends the attempt', async () => {
      const silent = createServer(() => {}).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const failure = await failureOf(open({ retries: 0, stallMs: 50, endpoint: `http://127.0.0.1:${port}` }).get('a'));
      expectCode(failure, 'UNAVAILABLE');
      expect(failure.message).toContain('nothing came for 50 ms');
      silent.closeAllConnections();
      silent.close();
    });

    test('of a store that has never answered ends sooner, where that is wanted', async () => {
      let asked = 0;
      const store = open({ stallMs: 60_000, firstAnswerMs: 50, retries: 1000 });
      const silent = createServer(() => asked++).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      const other = open({
        ...{ stallMs: 60_000, firstAnswerMs: 50, retries: 1000 },
        endpoint: `http://127.0.0.1:${port}`,
      });
      const failure = await failureOf(other.get('a'));
      expectCode(failure, 'UNAVAILABLE');
      expect(failure.message).toMatch(
        /given up after 1 attempt\. The store has not answered once: correct its endpoint/,
      );
      expect(asked).toBe(1);
      silent.closeAllConnections();
      silent.close();
      // One that has answered is waited for.
      await store.get('a');
      proxy.trouble = ({ n }) => (n < 5 ? { kind: 'reset' } : undefined);
      await store.get('a');
      expect(store.stats().retries).toBe(3);
    });

    test('ends with the signal of who asked', async () => {
      const store = open({ firstDelayMs: 60_000 });
      const controller = new AbortController();
      proxy.trouble = () => {
        setImmediate(() => controller.abort(new Error('enough')));
        return { kind: 'answer', status: 503, code: 'SlowDown' };
      };
      expectCode(await failureOf(store.get('a', { signal: controller.signal })), 'ABORTED');
      expectCode(await failureOf(store.get('a', { signal: controller.signal })), 'ABORTED');
    });
  });

  describe('a refusal', () => {
    test('of a wrong bucket', async () => {
      const store = open({}, 's3://no-such-bucket/x');
      for (const work of [
        () => store.get('a'),
        () => store.put('a', Buffer.from('x'), { ifAbsent: true }),
        () => all(store, ''),
        () => store.delete(['a']),
      ]) {
        const failure = await failureOf(work());
        expectCode(failure, 'MISSING');
        expect(failure.message).toContain('no-such-bucket');
      }
    });

    test('of a missing right names it', async () => {
      const { stranger } = server();
      const store = open({ credentials: async () => stranger });
      const rights: readonly (readonly [() => Promise<unknown>, string])[] = [
        [() => store.get('a'), 's3:GetObject'],
        [() => store.put('a', Buffer.from('x')), 's3:PutObject'],
        [() => all(store, ''), 's3:ListBucket'],
        [() => store.delete(['a']), 's3:DeleteObject'],
      ];
      for (const [work, right] of rights) {
        const failure = await failureOf(work());
        expectCode(failure, 'FORBIDDEN');
        expect(failure.message).toContain(right);
        expect(failure.message).toContain(`s3://traces/${prefix}`);
      }
      const failure = await failureOf(store.transport('a').readTail(1));
      expect(failure).toBeInstanceOf(TransportError);
      expect(failure.message).toContain('s3:GetObject');
    });

    test('of a missing object differs from one of a missing right, as far as a store lets us know', async () => {
      proxy.trouble = ({ url }) =>
        url.includes('list-type') ? undefined : { kind: 'answer', status: 403, code: 'AccessDenied' };
      const mayList = await failureOf(open().get('a'));
      expectCode(mayList, 'FORBIDDEN');
      expect(mayList.message).toMatch(/: these credentials need the right s3:GetObject there$/);

      proxy.trouble = () => ({ kind: 'answer', status: 403, code: 'AccessDenied' });
      const store = open();
      const before = proxy.requests.length;
      for (const read of [() => store.get('a'), () => store.get('b'), () => store.transport('a').readTail(1)]) {
        const { message } = await failureOf(read());
        expect(message).toMatch(/no such object, or .* may not read it/);
        expect(message).toContain('give them that, and s3:GetObject');
      }
      // Asked once.
      expect(proxy.requests.length - before).toBe(4);
      // What is written is no question of what is there.
      const written = await failureOf(store.put('a', Buffer.from('x')));
      expect(written.message).toMatch(/need the right s3:PutObject there$/);
    });

    test('of wrong credentials shows none', async () => {
      const { accessKeyId } = server();
      const failure = await failureOf(
        open({ credentials: async () => ({ accessKeyId, secretAccessKey: 'wrong-secret' }) }).get('a'),
      );
      expectCode(failure, 'CREDENTIALS');
      expect(failure.message + JSON.stringify(failure)).not.toMatch(/wrong-secret|Signature=/);
      expectCode(
        await failureOf(open({ credentials: async () => ({ accessKeyId: 'nobody', secretAccessKey: 'x' }) }).get('a')),
        'CREDENTIALS',
      );
    });

    test('of another region says what to set', async () => {
      const failure = await failureOf(open({ region: 'eu-west-9' }).get('a'));
      expect(failure.message).toMatch(/region/);
      proxy.trouble = () => ({
        kind: 'answer',
        status: 301,
        code: 'PermanentRedirect',
        headers: { location: 'http://127.0.0.1:1/' },
      });
      expectCode(await failureOf(open().get('a')), 'ELSEWHERE');
    });
  });

  test('a wrong clock of this machine is corrected by the store', async () => {
    const store = open();
    const clock = vi.spyOn(timers, 'wallMs').mockImplementation(() => Date.now() - 3_600_000);
    try {
      await store.put('a', Buffer.from('x'));
      expect(store.stats().retries).toBe(1);
      expect(text(await store.get('a'))).toBe('x');
      expect(store.stats().retries).toBe(1);
      expect(Math.abs(store.clockMs() - Date.now())).toBeLessThan(60_000);
    } finally {
      clock.mockRestore();
    }
    // A store that lies about its clock as well.
    proxy.skewMs = 7_200_000;
    const lost = open();
    const wrong = vi.spyOn(timers, 'wallMs').mockImplementation(() => Date.now() - 3_600_000);
    try {
      expectCode(await failureOf(lost.get('a')), 'CLOCK');
    } finally {
      wrong.mockRestore();
    }
  });

  test('the clock is the one of the store', async () => {
    const store = open();
    expect(() => store.clockMs()).toThrow(/known only once it has answered/);
    proxy.skewMs = -86_400_000;
    await store.get('a');
    expect(Math.abs(store.clockMs() - (Date.now() - 86_400_000))).toBeLessThan(60_000);
  });

  test('credentials that expired are fetched again, once', async () => {
    const { accessKeyId, secretAccessKey } = server();
    let asked = 0;
    const store = open({
      credentials: async () =>
        asked++ === 0 ? { accessKeyId: 'old', secretAccessKey: 'old' } : { accessKeyId, secretAccessKey },
    });
    proxy.trouble = ({ headers }) =>
      headers.authorization?.includes('Credential=old/')
        ? { kind: 'answer', status: 400, code: 'ExpiredToken' }
        : undefined;
    await Promise.all(['a', 'b', 'c'].map((key) => store.put(key, Buffer.from(key))));
    expect(asked).toBe(2);
    proxy.trouble = () => ({ kind: 'answer', status: 400, code: 'ExpiredToken' });
    expectCode(await failureOf(store.get('a')), 'CREDENTIALS');
    expect(asked).toBe(3);
  });

  test('credentials are fetched again before they expire', async () => {
    const { accessKeyId, secretAccessKey } = server();
    let asked = 0;
    const store = open({
      credentials: async () => ({
        accessKeyId,
        secretAccessKey,
        expiration: new Date(Date.now() + (asked++ === 0 ? 30_000 : 3_600_000)),
      }),
    });
    for (let i = 0; i < 3; i++) await store.get('a');
    expect(asked).toBe(2);
  });

  describe('ranges', () => {
    const bytes = randomBytes(500_000);

    test('are those of the object, neighbours together', async () => {
      const store = open();
      await store.put('a', bytes);
      const transport = store.transport('a');
      const tail = await transport.readTail(100);
      expect(tail).toEqual({ bytes: bytes.subarray(-100), offset: 499_900, size: 500_000 });
      const parts = await transport.readRanges([
        { offset: 300_000, length: 10 },
        { offset: 5, length: 10 },
        { offset: 0, length: 0 },
        { offset: 300_500, length: 10 },
      ]);
      expect(parts).toEqual([
        bytes.subarray(300_000, 300_010),
        bytes.subarray(5, 15),
        Buffer.alloc(0),
        bytes.subarray(300_500, 300_510),
      ]);
      expect(transport.stats()).toMatchObject({ requests: 3, ranges: 5 });
      expect((await store.transport('a').readTail(1_000_000)).bytes.equals(bytes)).toBe(true);
      expect((await failureOf(transport.readRanges([{ offset: 499_999, length: 2 }]))).code).toBe(
        'ERR_SPANLINE_GRAPH_TRUNCATED',
      );
      await transport.close();
      expect((await failureOf(transport.readTail(1))).code).toBe('ERR_SPANLINE_GRAPH_CLOSED');
    });

    test('are of one version, the one that is known', async () => {
      const store = open();
      const { etag = '' } = (await store.put('a', bytes)) ?? {};
      const known = store.transport('a', { size: bytes.length, etag });
      expect((await known.readTail(10)).bytes).toEqual(bytes.subarray(-10));
      await store.put('a', randomBytes(500_000));
      expect(await failureOf(known.readTail(10))).toBeInstanceOf(ChangedError);
      await store.delete(['a']);
      expect(await failureOf(known.readRanges([{ offset: 1, length: 1 }]))).toBeInstanceOf(NotFoundError);
    });
  });
});

test('the address of an archive has a bucket, and a prefix or none', () => {
  expect(parseBucketLocation('s3://bucket/a/b/')).toEqual({ bucket: 'bucket', prefix: 'a/b/' });
  expect(parseBucketLocation('s3://bucket')).toEqual({ bucket: 'bucket', prefix: '' });
  for (const wrong of ['s3://', 's3:///a', 'http://bucket/a', 's3://b:1/a', 's3://bucket/a/../b']) {
    expect(() => parseBucketLocation(wrong), wrong).toThrow(
      expect.objectContaining({ code: 'ERR_SPANLINE_BUCKET_LOCATION' }),
    );
  }
  expect(() => openObjectStore('s3://bucket', { endpoint: 'host:1' })).toThrow(
    expect.objectContaining({ code: 'ERR_SPANLINE_BUCKET_LOCATION' }),
  );
  expect(() => openObjectStore('s3://bucket', { retries: -1, endpoint: 'http://x' })).toThrow(/retries/);
});
