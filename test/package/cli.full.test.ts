// The command, installed from its tarball and the core's, traces applications that have nothing of ours installed: ES modules and CommonJS, and one
// with an API of OpenTelemetry of its own.
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { Consumer, root } from './consumer.js';

const SERVE = `http.createServer((request, response) => response.end('hello')).listen(0, async function () {
  await (await fetch('http://127.0.0.1:' + this.address().port + '/hello')).text();
  this.close();
});`;
const API = `trace.getTracer('shop').startSpan('of the API').end();`;

let desk: Consumer;
let command: string;
let application: string;
beforeAll(() => {
  desk = new Consumer();
  command = join(desk.install('cli'), 'dist/cjs/main.js');
  application = mkdtempSync(join(tmpdir(), 'spanline-application-'));
  mkdirSync(join(application, 'node_modules/@opentelemetry'), { recursive: true });
  const api = 'node_modules/@opentelemetry/api';
  symlinkSync(join(root, api), join(application, api));
});
afterAll(() => {
  desk?.dispose();
  rmSync(application, { recursive: true, force: true });
});

/** What the command lists of an archive. */
const spansIn = (traces: string): string => {
  const { code, stdout } = desk.node([command, 'trace', 'ls', '--archive', traces, '--json']);
  expect(code).toBe(0);
  return stdout;
};

test.each([
  ['app.mjs', `import http from 'node:http'; ${SERVE}`, 'GET'],
  ['app.cjs', `const http = require('node:http'); ${SERVE}`, 'GET'],
  ['api.mjs', `import { trace } from '@opentelemetry/api'; ${API}`, 'of the API'],
  ['api.cjs', `const { trace } = require('@opentelemetry/api'); ${API}`, 'of the API'],
])('%s is traced', (name, text, span) => {
  writeFileSync(join(application, name), text);
  const traces = join(application, `traces-${name}`);
  const ran = desk.node([command, 'run', '--archive', traces, '--', process.execPath, join(application, name)]);
  expect(ran).toMatchObject({ code: 0, stdout: '' });
  expect(spansIn(traces)).toContain(`"${span}`);
});

test('run brings an archive that only the command finds', () => {
  const nested = new Consumer();
  onTestFinished(() => nested.dispose());
  const main = join(nested.install('cli'), 'dist/cjs/main.js');
  const ofCli = join(nested.dir, 'node_modules/@spanline/cli/node_modules/@spanline');
  mkdirSync(ofCli, { recursive: true });
  renameSync(join(nested.dir, 'node_modules/@spanline/archive'), join(ofCli, 'archive'));
  const traces = join(application, 'traces-nested');
  writeFileSync(join(application, 'nested.cjs'), `const http = require('node:http'); ${SERVE}`);
  const args = [main, 'run', '--archive', traces, '--', process.execPath, join(application, 'nested.cjs')];
  expect(nested.node(args)).toMatchObject({ code: 0, stdout: '' });
  expect(spansIn(traces)).toContain('"GET');
});

test('register takes an archive that only the program finds', () => {
  const [elsewhere, program] = [new Consumer(), new Consumer()];
  onTestFinished(() => {
    for (const one of [elsewhere, program]) one.dispose();
  });
  program.install('archive');
  const file = program.write('app.cjs', `const http = require('node:http'); ${SERVE}`);
  const args = ['--import', join(elsewhere.package, 'dist/esm/register/preload.js'), file];
  const traces = join(program.dir, 'traces');
  const { code, stdout, stderr } = program.node(args, { SPANLINE_ARCHIVE: traces });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
  // The archive brings a core of its own.
  expect(stderr).toMatch(/^\(node:\d+\) \[SPANLINE_TWO_COPIES\] SpanlineWarning: .*\n.*--trace-warnings.*\n$/);
  expect(spansIn(traces)).toContain('"GET');
});

test('help loads neither the core nor an archive', () => {
  const loaded = desk.write(
    'loaded.cjs',
    `process.on('exit', () => console.error(Object.keys(require.cache).join('\\n')));`,
  );
  const { code, stderr } = desk.node(['--require', loaded, command, '--help']);
  expect(code).toBe(0);
  const ours = stderr.match(/(?<=node_modules\/)@?spanline\/.*\.js/g) ?? [];
  expect(ours).toContain('@spanline/cli/dist/cjs/main.js');
  expect(ours.filter((file) => /core|archive\.js|internal\.js|graph|tracedb|profile|ui\//.test(file))).toEqual([]);
});

test('the command tells its version, and names what is missing of the core', () => {
  expect(desk.node([command, '--version'])).toMatchObject({ code: 0, stdout: '0.1.0\n', stderr: '' });
  const preload = join(desk.package, 'dist/esm/register/preload.js');
  renameSync(preload, `${preload}.away`);
  onTestFinished(() => renameSync(`${preload}.away`, preload));
  const { code, stderr } = desk.node([command, 'run', '--', 'true']);
  expect(code).toBe(3);
  expect(stderr).toMatch(/preload\.js is missing: install spanline again\n$/);
});
