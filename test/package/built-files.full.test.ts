// What holds for the sources holds for the files that are published, loaded as modules and as scripts: wrappers, decorators, context and
// instrumentation of the built package. Each run is vitest itself, told by SPANLINE_TEST_BUILT to give tests the built entries.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildFirst } from '../support/built.js';
import { root } from '../support/child.js';

buildFirst();

/** What a file may import: the entry of the core, and support that imports no more itself. */
const ALLOWED = /^(\.\.\/\.\.\/src\/index|\.\.\/support\/(recorder|samples|fast-check))\.js$/;

/** Files of `folder` that test the core by its entry alone. */
const ofTheCore = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .filter((name) => /(?<!full)\.test\.ts$/.test(name))
    .map((name) => `${folder}/${name}`)
    .filter((file) => {
      const imports = [...readFileSync(join(root, file), 'utf8').matchAll(/ from '(\.[^']+)'/g)].map(
        ([, from]) => from,
      );
      return imports.includes('../../src/index.js') && imports.every((from) => ALLOWED.test(from));
    });

const WRAPPERS = [...ofTheCore('test/span'), ...ofTheCore('test/local-span')];
const INSTRUMENTATION = [
  'test/instrument/http/server.process.test.ts',
  'test/instrument/http/client.process.test.ts',
  'test/instrument/http2.process.test.ts',
  'test/instrument/instrument-channel.process.test.ts',
  'test/instrument/other-context.process.test.ts',
  'test/instrument/routes.process.test.ts',
  'test/instrument/db/redis.process.test.ts',
  'test/instrument/db/sqlite.process.test.ts',
];

// Modules pass on what the CommonJS files export, so that instrumentations are looked at in those alone.
test.each(['cjs', 'esm'])(
  'dist/%s passes the tests of wrappers and instrumentation',
  async (format) => {
    expect(WRAPPERS.length).toBeGreaterThan(30);
    // As many samples as the quick suite takes: chance is tried on the sources.
    const env: NodeJS.ProcessEnv = { SPANLINE_TEST_BUILT: format, SPANLINE_TESTS: 'quick', NO_COLOR: '1' };
    // This is a worker of a run with names and numbers of its own.
    for (const [name, value] of Object.entries(process.env)) if (!name.startsWith('VITEST')) env[name] ??= value;
    const vitest = join(root, 'node_modules/vitest/vitest.mjs');
    const child = spawn(
      process.execPath,
      [vitest, 'run', '--reporter=dot', '--maxWorkers=1', ...WRAPPERS, ...(format === 'cjs' ? INSTRUMENTATION : [])],
      { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    const [code] = await once(child, 'close');
    expect({ code, failed: code === 0 ? '' : output.slice(output.indexOf('Failed')) }).toEqual({ code: 0, failed: '' });
  },
  300_000,
);
