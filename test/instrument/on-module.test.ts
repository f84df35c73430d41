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

test('a file that a package keeps to itself, loaded by its main file or before', () => {
  const directory = mkdtempSync(join(tmpdir(), 'on-module-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const place = join(directory, 'node_modules', '@of', 'files');
  mkdirSync(join(place, 'lib'), { recursive: true });
  writeFileSync(join(place, 'index.js'), "exports.own = require('./lib/own');");
  writeFileSync(join(place, 'lib', 'own.js'), "exports.name = 'own';");
  const seen: object[][] = [[], []];
  const wait = (into: object[]): void =>
    onTestFinished(
      onModule<object>('@of/files/lib/own.js', undefined, (exports) => {
        into.push(exports);
        return () => {};
      }),
    );
  wait(seen[0]);
  createRequire(join(directory, 'program.js'))('@of/files');
  wait(seen[1]);
  expect(seen).toEqual([[{ name: 'own' }], [{ name: 'own' }]]);
});

test('a copy that only one package has', () => {
  const directory = mkdtempSync(join(tmpdir(), 'on-module-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const outer = join(directory, 'node_modules', 'outer-of-nested');
  mkdirSync(join(outer, 'node_modules', 'nested'), { recursive: true });
  writeFileSync(join(outer, 'index.js'), "exports.nested = require('./node_modules/nested/index.js');");
  writeFileSync(join(outer, 'node_modules', 'nested', 'index.js'), "exports.name = 'nested';");
  createRequire(join(directory, 'program.js'))('outer-of-nested');
  const patched: object[] = [];
  onTestFinished(
    onModule<object>('nested', undefined, (exports) => {
      patched.push(exports);
      return () => {};
    }),
  );
  expect(patched).toEqual([{ name: 'nested' }]);
});
