// A package is patched as soon as its main file is loaded, whoever asks for it: the program, or another file of the package.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { onModule } from '../../src/instrument/on-module.js';

const FILES: Readonly<Record<string, string>> = {
  'index.js': "exports.name = 'main';",
  'promise.js': "exports.main = require('./index.js');",
  'lib/deep.js': "exports.other = require('./other.js'); exports.main = require('..');",
  'lib/other.js': "exports.name = 'other';",
};

// Each of its own name: what one has loaded stays loaded.
test.each([
  ['by-main', ''],
  ['by-other', '/promise.js'],
  ['by-deep', '/lib/deep.js'],
])('%s%s', (name, file) => {
  const directory = mkdtempSync(join(tmpdir(), 'on-module-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const place = join(directory, 'node_modules', name);
  mkdirSync(join(place, 'lib'), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(place, path), text);
  const patched: object[] = [];
  const off = onModule<object>(name, undefined, (exports) => {
    patched.push(exports);
    return () => {};
  });
  onTestFinished(off);
  const loaded = createRequire(join(directory, 'program.js'))(name + file) as { name?: string; main?: object };
  expect(patched).toEqual([loaded.main ?? loaded]);
  expect(patched).toEqual([{ name: 'main' }]);
});
