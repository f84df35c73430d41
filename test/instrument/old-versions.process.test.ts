// A library that is loaded in a version without channels is told of once, by its name and version; one that is new enough is not.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { instrument } from '../../src/instrument/instrument.js';
import { buildFirst } from '../cli/support/spanline.js';
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
  const { disable } = instrument({ log: { debug: (message) => said.push(message) } });
  later(disable);
  installed('mysql2', '3.9.7');
  const require = createRequire(join(out, 'app.cjs'));
  for (let i = 0; i < 2; i++) require('mysql2');
  library('mysql2');
  library('redis');
  expect(said).toEqual([
    'mysql2 3.9.7 is not traced: it publishes no diagnostics channel, which it does from 3.20.0 on',
  ]);
});

test('by register at debug level, ES modules too where they can be seen', async () => {
  installed('ioredis', '4.28.5');
  installed('h3', '1.15.0', 'module');
  const app = join(out, 'old.mjs');
  writeFileSync(app, `import 'ioredis'; import 'h3'; console.log('done');`);
  const run = (level: string) =>
    runFile(app, {
      execArgv: ['--import', 'spanline/register'],
      env: { OTEL_TRACES_EXPORTER: 'none', OTEL_LOG_LEVEL: level },
    });
  expect(await run('info')).toMatchObject({ code: 0, stdout: 'done\n', stderr: '' });
  const { stdout, stderr } = await run('debug');
  expect(stdout).toBe('done\n');
  expect(stderr.match(/ioredis 4\.28\.5 is not traced/g)).toHaveLength(1);
  expect(stderr.match(/h3 1\.15\.0 is not traced/g)?.length).toBe(
    'registerHooks' in (await import('node:module')).default ? 1 : undefined,
  );
});
