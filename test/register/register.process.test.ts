// A program under `--import spanline/register` is traced as its environment asks; what it prints, and how it ends, is its own.
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { spanline, spanlineProcess } from '../../packages/cli/test/support/spanline.js';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { decodeProtobuf } from '../exporters/support/otlp-decode.js';
import { out, runFile } from '../support/child.js';
import { sampleOf } from '../support/samples.js';
import { app, write } from './support/app.js';

const app2 = write('app.cjs', `const { Span } = require('spanline'); Span.root('job').end(); console.log('done');`);
// What a client of a database announces.
const app3 = write(
  'app3.mjs',
  `import { tracingChannel } from 'node:diagnostics_channel';
   import { Span } from 'spanline';
   const get = () => tracingChannel('ioredis:command').traceSync(() => 'value', { command: 'get', args: ['key'] });
   get();
   Span.root('request').runToEnd(get);`,
);

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Variables of the test run itself must not matter. */
const QUIET = { OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', OTEL_LOG_LEVEL: '' };
const ESM = ['--import', 'spanline/register'];
const CJS = ['--require', 'spanline/register'];

const run = (env: Readonly<Record<string, string>>, execArgv: readonly string[] = ESM, file = app) =>
  runFile(file, { execArgv, env: { ...QUIET, ...env } });

const received = (running: TestServer): string[] =>
  running.requests.flatMap(({ body }) => decodeProtobuf(body).spans.map(({ name }) => name)).sort();

const linesOf = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

const PARENTS = [
  ['true', [2]],
  ['false', [2, 1]],
] as const;

test.each(sampleOf(PARENTS, 1, 2))(
  'calls to databases without a parent, SPANLINE_DATABASES_REQUIRE_PARENT=%s',
  async (asked, counts) => {
    const directory = join(out, `databases-${asked}`);
    const env = { SPANLINE_ARCHIVE: directory, SPANLINE_DATABASES_REQUIRE_PARENT: asked };
    expect(await run(env, ESM, app3)).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await spanline(['trace', 'ls', '-a', directory, '--json']);
    expect(linesOf(stdout)).toMatchObject(counts.map((spanCount) => ({ spanCount })));
  },
);

describe('where spans go', () => {
  test('by default to an OTLP server', async () => {
    server = await startServer();
    const child = await run({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_SERVICE_NAME: 'shop' });
    expect(child).toMatchObject({ code: 7, stdout: 'done\n', stderr: '' });
    expect(received(server)).toEqual(['job', 'step', 'work']);
    const { resource } = decodeProtobuf(server.requests[0].body);
    expect(resource).toContainEqual(['service.name', ['string', 'shop']]);
  });

  test('to the console, which is standard error', async () => {
    const child = await run({ OTEL_TRACES_EXPORTER: 'console' });
    expect(child.stdout).toBe('done\n');
    expect(child.stderr).toMatch(/work[\s\S]*step[\s\S]*job/);
  });

  test('to an archive alone, which commands read', async () => {
    const directory = join(out, 'traces');
    expect(await run({ SPANLINE_ARCHIVE: directory })).toMatchObject({ code: 7, stderr: '' });
    const { stdout } = await spanline(['trace', 'ls', '-a', directory, '--json']);
    expect(linesOf(stdout)).toMatchObject([{ spanCount: 1 }, { spanCount: 2 }]);
  });

  test('an archive alone has the event-loop timeline, which tells stalls', async () => {
    const directory = join(out, 'stalled');
    const stalled = write(
      'stalled.mjs',
      `import { Span } from 'spanline';
       const root = Span.root('GET /slow');
       root.run(() => { for (const end = Date.now() + 300; Date.now() < end; ); });
       root.end();
       setTimeout(() => {}, 50);`,
    );
    const child = await spanlineProcess(['run', '--archive', directory, '--', process.execPath, stalled]);
    expect(child.code).toBe(0);
    const { stdout, code, stderr } = await spanline(['stalls', '-a', directory, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('GET /slow');
  });

  test('none: nothing is sent', async () => {
    server = await startServer();
    await run({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: server.url });
    expect(server.requests).toEqual([]);
  });
});

describe('what it must not do', () => {
  test('nothing where it is disabled', async () => {
    server = await startServer();
    const env = { OTEL_SDK_DISABLED: 'true', OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
    expect(await run(env)).toMatchObject({ code: 7, stdout: 'done\n', stderr: '' });
    expect(server.requests).toEqual([]);
  });

  test('keep a program from starting: each fault is a line, and the rest works', async () => {
    server = await startServer();
    const file = write('no-directory', '');
    const child = await run({
      OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'zip',
      OTEL_TRACES_EXPORTER: 'otlp',
      OTEL_TRACES_SAMPLER: 'sometimes',
      SPANLINE_ARCHIVE: file,
    });
    expect(child).toMatchObject({ code: 7, stdout: 'done\n' });
    expect(child.stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        /^spanline: OTEL_TRACES_SAMPLER must be .* not "sometimes"; parentbased_always_on is used\.$/,
      ),
      expect.stringMatching(/^spanline: OTEL_EXPORTER_OTLP_PROTOCOL must be .* not grpc\. The default is used\.$/),
      expect.stringMatching(/^spanline: OTEL_EXPORTER_OTLP_COMPRESSION must be .* not zip\. The default is used\.$/),
      expect.stringContaining(`spanline: no traces are kept in ${file}: `),
    ]);
    expect(received(server)).toEqual(['job', 'step', 'work']);
    const quiet = await run({ OTEL_TRACES_EXPORTER: 'none', OTEL_TRACES_SAMPLER: 'x', OTEL_LOG_LEVEL: 'none' });
    expect(quiet.stderr).toBe('');
  });

  test('lose a span at SIGTERM', async () => {
    server = await startServer();
    const env = { ...QUIET, OTEL_EXPORTER_OTLP_ENDPOINT: server.url, OTEL_BSP_SCHEDULE_DELAY: '60000' };
    const child = await runFile(app, { execArgv: ESM, args: ['wait'], env, signalWhenReady: 'SIGTERM' });
    expect(child.signal).toBe('SIGTERM');
    expect(received(server)).toEqual(['job', 'step', 'work']);
  });
});

test('a CommonJS program, by --require', async () => {
  server = await startServer();
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url }, CJS, app2);
  expect(received(server)).toEqual(['job']);
});

describe('spanline run', () => {
  test('traces a program, whose output and exit code are its own, and says where to look', async () => {
    const directory = join(out, 'run');
    const args = ['run', '--archive', directory, '--service', 'shop', '--', process.execPath, app];
    const outcome = await spanlineProcess(args, { env: QUIET });
    expect(outcome).toMatchObject({ code: 7, stdout: 'done\n' });
    expect(outcome.stderr).toBe(`spanline: traces are in ${directory}; see: spanline trace ls -a ${directory}\n`);
    const { stdout } = await spanline(['trace', 'ls', '-a', directory, '--json']);
    expect(linesOf(stdout)).toMatchObject([{ service: 'shop' }, { service: 'shop' }]);
  });
});
