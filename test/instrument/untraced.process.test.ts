// A library that is loaded in a version which is not traced, or that never is, is told of once, by its name and version and by what traces it; one that is new
// enough is not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instrument } from '../../src/instrument/instrument.js';
import { buildFirst } from '../support/built.js';
import { out, runFile } from '../support/child.js';
import { library } from './libraries.js';
import { later } from './support.js';

buildFirst();

/** A package as it is installed: its name and version are all that matters. */
const installed = (name: string, version: string, type: 'commonjs' | 'module' = 'commonjs'): void => {
  const folder = join(out, 'node_modules', name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name, version, type, main: './index.js', exports: './index.js' }),
  );
  writeFileSync(join(folder, 'index.js'), type === 'module' ? 'export const old = true;' : 'exports.old = true;');
};

test('told once, in code', () => {
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const { disable } = instrument({ log: { warn: say, debug: say } });
  later(disable);
  installed('mysql2', '3.9.7');
  installed('fastify', '4.29.0');
  const require = createRequire(join(out, 'app.cjs'));
  for (let i = 0; i < 2; i++) for (const name of ['mysql2', 'fastify']) require(name);
  library('mysql2');
  library('redis');
  // What other tests have loaded is still there.
  expect(said.filter((message) => /^(?:mysql2|fastify|redis) /.test(message))).toEqual([
    'mysql2 3.9.7 is not traced by spanline, which it is from 3.20.0 on; npm install @opentelemetry/instrumentation-mysql2',
    'fastify 4.29.0 is not traced by spanline, which it is from 5.0.0 on',
  ]);
});

test.each([
  ['amqplib', '0.7.1', '0.8.0'],
  ['kafkajs', '0.9.0', '1.0.0'],
  ['mongodb', '4.17.2', '5.0.0'],
  ['mongoose', '6.13.8', '7.0.0'],
])('%s', (name, older, first) => {
  const said: string[] = [];
  later(instrument({ log: { warn: (message) => said.push(message), debug: () => {} } }).disable);
  installed(name, older);
  createRequire(join(out, 'app.cjs'))(name);
  library(name);
  // What other tests have loaded is still there.
  expect(said.filter((message) => message.startsWith(name))).toEqual([
    `${name} ${older} is not traced by spanline, which it is from ${first} on; npm install @opentelemetry/instrumentation-${name}`,
  ]);
});

test('one that is never traced', () => {
  const said: string[] = [];
  const debugged: string[] = [];
  const log = { warn: (message: string) => said.push(message), debug: (message: string) => debugged.push(message) };
  later(instrument({ log }).disable);
  installed('tedious', '19.2.0');
  installed('better-sqlite3', '12.4.1');
  for (const name of ['tedious', 'better-sqlite3', 'tedious']) createRequire(join(out, 'app.cjs'))(name);
  expect(said).toContain(
    'tedious 19.2.0 is not traced by spanline; npm install @opentelemetry/instrumentation-tedious',
  );
  expect(said.filter((message) => message.startsWith('tedious'))).toHaveLength(1);
  expect(debugged).toContain('better-sqlite3 12.4.1 is not traced by spanline');
});

test('by register unless its name is switched off', async () => {
  installed('memcached', '2.2.2');
  const app = join(out, 'never-traced.cjs');
  writeFileSync(app, `require('memcached');`);
  const run = async (disabled: string) => {
    const env = { OTEL_TRACES_EXPORTER: 'none', OTEL_NODE_DISABLED_INSTRUMENTATIONS: disabled };
    return (await runFile(app, { execArgv: ['--import', 'spanline/register'], env })).stderr;
  };
  expect(await run('')).toBe(
    'spanline: memcached 2.2.2 is not traced by spanline; npm install @opentelemetry/instrumentation-memcached\n',
  );
  expect(await run('memcached')).toBe('');
});

test.each([
  ['graphql', '14.7.0', '15.0.0'],
  ['ioredis', '3.2.2', '4.0.0'],
])('by register, %s %s', async (name, version, first) => {
  installed(name, version);
  const app = join(out, `old-${name}.mjs`);
  writeFileSync(app, `import '${name}'; import 'node:module'; await import('${name}'); console.log('done');`);
  const run = (level: string) =>
    runFile(app, {
      execArgv: ['--import', 'spanline/register'],
      env: { OTEL_TRACES_EXPORTER: 'none', OTEL_LOG_LEVEL: level },
    });
  const stderr = `spanline: ${name} ${version} is not traced by spanline, which it is from ${first} on; npm install @opentelemetry/instrumentation-${name}\n`;
  expect(await run('')).toMatchObject({ code: 0, stdout: 'done\n', stderr });
  expect(await run('error')).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
});

test('of one that nothing else traces at debug level, ES modules too where they can be seen', async () => {
  installed('h3', '1.15.0', 'module');
  const app = join(out, 'old.mjs');
  writeFileSync(app, `import 'h3'; console.log('done');`);
  const run = (level: string) =>
    runFile(app, {
      execArgv: ['--import', 'spanline/register'],
      env: { OTEL_TRACES_EXPORTER: 'none', OTEL_LOG_LEVEL: level },
    });
  expect(await run('info')).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
  const { stdout, stderr } = await run('debug');
  expect(stdout).toBe('done\n');
  expect(stderr.match(/h3 1\.15\.0 is not traced/g)?.length).toBe(
    'registerHooks' in (await import('node:module')).default ? 1 : undefined,
  );
});
