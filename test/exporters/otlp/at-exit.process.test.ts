// A program, or a worker thread, that ends by itself, by process.exit or by an error loses nothing to OTLP; and a server that does not answer holds its end back
// by no more than exitTimeoutMs.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { out, root, runFile } from '../../support/child.js';
import { deadUrl, startServer, type TestServer } from '../support/http-server.js';
import { decodeProtobuf } from '../support/otlp-decode.js';

const program = join(out, 'otlp-at-exit.mjs');

beforeAll(async () => {
  const source = join(out, 'otlp-at-exit.ts');
  writeFileSync(
    source,
    `import { existsSync, writeSync } from 'node:fs';
     import { configure, Span, setReporter, stats } from 'spanline';
     import { OtlpReporter } from 'spanline/exporters/otlp';
     const [how, endpoint, compression = 'none', exitTimeoutMs = '30000', spans = '3', sign = ''] = process.argv.slice(2);
     configure({ exitTimeoutMs: Number(exitTimeoutMs), reportIntervalMs: how === 'while-sending' ? 1 : 60_000 });
     setReporter(new OtlpReporter({ endpoint, compression: compression as 'none', maxRequestBytes: 65_536 }));
     process.on('exit', () => {
       const { reportedSpans, lastError } = stats().collector.reporters.otlp;
       writeSync(1, JSON.stringify({ reportedSpans, lastError }) + '\\n');
     });
     for (let i = 0; i < Number(spans); i++) Span.root('root ' + i).end();
     const ways = {
       exit: () => process.exit(3),
       throws: () => { throw new Error('uncaught'); },
       rejects: () => void Promise.reject(new Error('unhandled')),
       empties: () => { process.exitCode = 3; },
       'goes-on': () => process.once('beforeExit', () => setTimeout(() => {
         Span.root('later').end();
         process.exit(3);
       }, 4000)),
       'while-sending': () => void setInterval(() => existsSync(sign) && process.exit(3), 5),
     };
     ways[how as 'exit']();`,
  );
  await build({
    entryPoints: [source],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    tsconfig: join(root, 'tsconfig.json'),
    ignoreAnnotations: true,
    logLevel: 'error',
  });
});

/** The same program in a worker thread, whose exit code is the process's; the main thread has nothing to do with spans. */
const inWorker = join(out, 'otlp-at-exit-worker.mjs');
writeFileSync(
  inWorker,
  `import { Worker } from 'node:worker_threads';
   const worker = new Worker(new URL('./otlp-at-exit.mjs', import.meta.url), { argv: process.argv.slice(2) });
   worker.on('error', () => {}).on('exit', (code) => { process.exitCode = code; });`,
);

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const namesOf = (running: TestServer, unpack = (body: Buffer): Buffer => body): string[] =>
  running.requests.flatMap(({ body }) => decodeProtobuf(unpack(body)).spans.map(({ name }) => name));

const endOf = (...args: string[]) => endIn(program, args);

const endIn = async (file: string, args: readonly string[]) => {
  const child = await runFile(file, { args });
  return {
    code: child.code,
    ...(JSON.parse(child.stdout) as { reportedSpans: number; lastError: string | undefined }),
  };
};

describe.each([
  ['exit', 3],
  ['throws', 1],
  ['rejects', 1],
])('a program that ends by: %s', (how, code) => {
  test('all spans arrive', async () => {
    server = await startServer();
    expect(await endOf(how, server.url)).toMatchObject({ code, reportedSpans: 3 });
    expect(namesOf(server)).toEqual(['root 0', 'root 1', 'root 2']);
  });
});

describe.each([
  ['exit', 3],
  ['throws', 1],
  ['rejects', 1],
])('a worker thread that ends by: %s', (how, code) => {
  test('all spans arrive', async () => {
    server = await startServer();
    expect(await endIn(inWorker, [how, server.url])).toMatchObject({ code, reportedSpans: 3 });
    expect(namesOf(server)).toEqual(['root 0', 'root 1', 'root 2']);
  });
});

test('a server that never answers holds a worker back by exitTimeoutMs at most', async () => {
  server = await startServer(() => {});
  expect(await endIn(inWorker, ['exit', server.url, 'none', '200'])).toMatchObject({ code: 3, reportedSpans: 0 });
});

test('compressed, in several requests, in order', async () => {
  server = await startServer();
  expect(await endOf('exit', server.url, 'gzip', '30000', '3000')).toMatchObject({ reportedSpans: 3000 });
  expect(server.requests.length).toBeGreaterThan(2);
  expect(namesOf(server, gunzipSync)).toEqual(Array.from({ length: 3000 }, (_, i) => `root ${i}`));
});

test('what was being sent is sent again', async () => {
  // The first request is never answered; when it has come, the program ends.
  const sign = join(out, 'has-come');
  server = await startServer((response, _, n) => (n > 1 ? response.end() : writeFileSync(sign, '')));
  expect(await endOf('while-sending', server.url, 'none', '30000', '3', sign)).toMatchObject({
    code: 3,
    reportedSpans: 3,
  });
  expect(server.requests.map(({ body }) => decodeProtobuf(body).spans.length)).toEqual([3, 3]);
});

test('a server that never answers holds the end back by exitTimeoutMs at most, and the spans are not counted as reported', async () => {
  server = await startServer(() => {});
  const end = await endOf('exit', server.url, 'none', '200');
  expect(end).toMatchObject({
    code: 3,
    reportedSpans: 0,
    lastError: expect.stringContaining('has not taken all spans'),
  });
});

test('what waited in vain when the event loop ran empty does not wait a second time', async () => {
  server = await startServer(() => {});
  // From the end of the flush to the exit a process of a busy machine may take a second and a half.
  const end = await endOf('empties', server.url, 'none', '3000');
  expect(end).toMatchObject({ code: 3, reportedSpans: 0 });
  expect(end.lastError).toContain('has not taken all spans');
  expect(server.requests.length).toBe(1);
});

test('a program that goes on after its event loop ran empty has the whole time when it ends', async () => {
  server = await startServer((response, _, n) => (n > 1 ? response.end() : undefined));
  const end = await endOf('goes-on', server.url, 'none', '2000');
  expect(end).toMatchObject({ code: 3 });
  expect(namesOf(server)).toContain('later');
});

test('nothing listens, or the server refuses: the program ends as it would', async () => {
  expect(await endOf('exit', await deadUrl())).toMatchObject({ code: 3, reportedSpans: 0 });
  server = await startServer((response) => response.writeHead(400).end());
  expect(await endOf('throws', server.url)).toMatchObject({ code: 1, reportedSpans: 0 });
});
