// A program under `--import spanline/register`: every sampler, every form of loading it twice, and what `spanline run` says of what it cannot trace.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { spanlineProcess } from '../../packages/cli/test/support/spanline.js';
import { startServer, type TestServer } from '../exporters/support/http-server.js';
import { decodeProtobuf } from '../exporters/support/otlp-decode.js';
import { out, runFile } from '../support/child.js';
import { app } from './support/app.js';

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Variables of the test run itself must not matter. */
const QUIET = { OTEL_TRACES_EXPORTER: '', SPANLINE_ARCHIVE: '', OTEL_LOG_LEVEL: '' };
const ESM = ['--import', 'spanline/register'];
const CJS = ['--require', 'spanline/register'];

const run = (env: Readonly<Record<string, string>>, execArgv: readonly string[] = ESM) =>
  runFile(app, { execArgv, env: { ...QUIET, ...env } });

const received = (running: TestServer): string[] =>
  running.requests.flatMap(({ body }) => decodeProtobuf(body).spans.map(({ name }) => name)).sort();

test.each([
  ['always_off', '', []],
  ['parentbased_always_off', '', []],
  ['traceidratio', '0', []],
  ['parentbased_traceidratio', '1', ['job', 'step', 'work']],
  ['always_on', '', ['job', 'step', 'work']],
])('sampler %s %s', async (name, share, expected) => {
  server = await startServer();
  const env = { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: share };
  await run({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url, ...env });
  expect(received(server)).toEqual(expected);
});

test('nothing is traced twice, in whichever forms it is loaded', async () => {
  server = await startServer();
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
  await run(env, [...ESM, ...CJS, ...ESM]);
  expect(received(server)).toEqual(['job', 'step', 'work']);
});

test('spanline run says that nothing was traced', async () => {
  const directory = join(out, 'nothing');
  const outcome = await spanlineProcess(['run', '-a', directory, '--', 'true'], { env: QUIET });
  expect(outcome).toMatchObject({
    code: 0,
    stderr: `spanline: no Node process of true kept a trace in ${directory}\n`,
  });
  expect(existsSync(directory)).toBe(false);
});

test('spanline run of a program that is not there', async () => {
  const outcome = await spanlineProcess(['run', '-e', 'none', '--', 'no-such-program'], { env: QUIET });
  expect(outcome).toMatchObject({ code: 3, stderr: expect.stringContaining('no-such-program cannot be started') });
});
