// A place is opened by what it says it is.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { BadOptionsError, NotFoundError } from '../../../src/container/graph-error.js';
import { BufferTransport, FileTransport } from '../../../src/container/transport/file-transport.js';
import { HttpTransport } from '../../../src/container/transport/http-transport.js';
import { openTransport } from '../../../src/container/transport/open-transport.js';
import { S3Transport } from '../../../src/container/transport/s3-transport.js';
import { failureOf } from '../support/errors.js';
import { temporaryDirectory } from '../support/temporary-directory.js';

const directory = temporaryDirectory();
const path = join(directory, 'a b%20.graph');
writeFileSync(path, 'hello');

test('every place has its transport', async () => {
  const s3 = { accessKeyId: 'id', secretAccessKey: 'secret', endpoint: 'http://127.0.0.1:1' };
  for (const [place, kind] of [
    [path, FileTransport],
    [pathToFileURL(path).href, FileTransport],
    [Buffer.from('hello'), BufferTransport],
    [new Uint8Array(5), BufferTransport],
    ['http://127.0.0.1:1/x', HttpTransport],
    ['HTTPS://127.0.0.1:1/x', HttpTransport],
    ['s3://bucket/key', S3Transport],
  ] as const) {
    const transport = await openTransport(place, { s3 });
    expect(transport).toBeInstanceOf(kind);
    await transport.close();
  }
});

test('options go to the kind of place they are for', async () => {
  const options = { file: { offset: 1, length: 3 }, http: { retries: -1 }, s3: { region: '!' } };
  const transport = await openTransport(path, options);
  expect((await transport.readTail(100)).bytes.toString()).toBe('ell');
  await transport.close();
  expect(await failureOf(openTransport('http://127.0.0.1:1/x', options))).toBeInstanceOf(BadOptionsError);
  expect(await failureOf(openTransport('s3://bucket/key', options))).toBeInstanceOf(BadOptionsError);
});

test('a place nobody knows is an error, and no file of that name', async () => {
  for (const place of ['gs://bucket/key', 'ftp://host/file', 'file://elsewhere/file']) {
    expect(await failureOf(openTransport(place)), place).toBeInstanceOf(BadOptionsError);
  }
  expect(await failureOf(openTransport(join(directory, 'none')))).toBeInstanceOf(NotFoundError);
  expect(await failureOf(openTransport('c:/none'))).toBeInstanceOf(NotFoundError);
});
