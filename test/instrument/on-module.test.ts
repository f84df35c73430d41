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

const installed = (name: string): NodeJS.Require => {
  const directory = mkdtempSync(join(tmpdir(), 'on-module-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const place = join(directory, 'node_modules', name);
  mkdirSync(join(place, 'lib'), { recursive: true });
  for (const [path, text] of Object.entries(FILES)) writeFileSync(join(place, path), text);
  return createRequire(join(directory, 'program.js'));
};

// Each of its own name: what one has loaded stays loaded.
test.each([
  ['by-main', ''],
  ['by-other', '/promise.js'],
  ['by-deep', '/lib/deep.js'],
])('%s%s', (name, file) => {
  const require = installed(name);
  const patched: object[] = [];
  const off = onModule<object>(name, undefined, (exports) => {
    patched.push(exports);
    return () => {};
  });
  onTestFinished(off);
  const loaded = require(name + file) as { name?: string; main?: object };
  expect(patched).toEqual([loaded.main ?? loaded]);
  expect(patched).toEqual([{ name: 'main' }]);
});

test.each([
  ['file-by-path', '/lib/other.js'],
  ['file-without-end', '/lib/other'],
  ['@scope/file-by-another', '/lib/deep.js'],
])('a file of a package that is waited for: %s%s', (name, file) => {
  const require = installed(name);
  const patched: object[] = [];
  const wait = () =>
    onModule<object>(`${name}/lib/other.js`, undefined, (exports, fileOf) => {
      patched.push({ ...exports, isThere: fileOf()?.endsWith('other.js') });
      return () => {};
    });
  const off = wait();
  require(name + file);
  require(name);
  off();
  expect(patched).toEqual([{ name: 'other', isThere: true }]);
  // And one that is loaded already.
  wait()();
  expect(patched).toHaveLength(2);
});
