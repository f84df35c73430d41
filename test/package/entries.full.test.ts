// Every entry of the published package loads as a module and by require, gives the same names in both, and is there once in a process
// whichever way it is loaded; no entry of the core needs another package.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import * as profile from '../../packages/profile/src/index.js';
import * as core from '../../src/index.js';
import { Consumer, codeEntries } from './consumer.js';

let consumer: Consumer;
beforeAll(() => {
  consumer = new Consumer();
  consumer.link('@opentelemetry/api');
});
afterAll(() => consumer?.dispose());

const NAMES = `const names = (m) => Object.keys(m).filter((k) => k !== '__esModule' && k !== 'module.exports').sort();`;

/** With this flag `require` takes no module, as in older tools. */
const NO_MODULES = '--no-experimental-require-module';

/** How a file takes others: their exports as constants, nothing, what it passes on, or late. */
const AT_LOAD =
  /^(?:"use strict";)?(const (\{ .+ \}|entry) = )?require\("[^"]+"\);$|^(?:"use strict";)?(module\.exports = \{ )?\w+: require\("[^"]+"\)\.\w+(,?| \};)$|\.then\(\(\) => require\("[^"]+"\)\)/;

describe('entries', () => {
  test('exports lists exactly the files that were built', () => {
    const built = readdirSync(join(consumer.package, 'dist/esm/exporters')).filter((file) => file.endsWith('.js'));
    const listed = codeEntries(consumer.manifest).filter((entry) => entry.startsWith('spanline/exporters/'));
    expect(listed.map((entry) => `${entry.slice('spanline/exporters/'.length)}.js`).sort()).toEqual(built.sort());
  });

  test('only spanline/otel needs the API of OpenTelemetry, and says so where it is missing', () => {
    const without = new Consumer();
    onTestFinished(() => without.dispose());
    const alone = codeEntries(without.manifest).filter((entry) => entry !== 'spanline/otel');
    const file = without.write(
      'without-api.mjs',
      `for (const e of ${JSON.stringify(alone)}) await import(e);
       await import('spanline/otel').catch(({ code, message }) => console.log(code, message.includes('@opentelemetry/api')));`,
    );
    expect(without.node([file])).toMatchObject({ code: 0, stdout: 'ERR_MODULE_NOT_FOUND true\n', stderr: '' });
  });

  test('ESM and CommonJS give the same names', () => {
    const entries = JSON.stringify(codeEntries(consumer.manifest));
    const esm = consumer.write(
      'names.mjs',
      `${NAMES} const all = {}; for (const e of ${entries}) all[e] = names(await import(e)); console.log(JSON.stringify(all));`,
    );
    const cjs = consumer.write(
      'names.cjs',
      `${NAMES} const all = {}; for (const e of ${entries}) all[e] = names(require(e)); console.log(JSON.stringify(all));`,
    );
    const [fromEsm, fromCjs] = [consumer.node([esm]), consumer.node([NO_MODULES, cjs])];
    expect(fromEsm).toMatchObject({ code: 0, stderr: '' });
    expect(fromCjs).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(fromCjs.stdout)).toEqual(JSON.parse(fromEsm.stdout));
    expect(JSON.parse(fromEsm.stdout).spanline).toContain('LocalSpan');
  });

  test('functions and classes keep the names of the sources, which stacks and profiles show', () => {
    consumer.install('profile');
    const namesOf = (entry: object) =>
      Object.entries(entry).flatMap(([key, value]) => (typeof value === 'function' ? [`${key}: ${value.name}`] : []));
    const expected = [core, profile].map((entry) => namesOf(entry).sort());
    const program = `const namesOf = ${namesOf};
      async function print(entries) {
        const [{ configure }] = entries;
        let thrown;
        try { configure({ sampler: 7 }); } catch (error) { thrown = error; }
        console.log(JSON.stringify({ names: entries.map((e) => namesOf(e).sort()), stack: thrown.stack }));
      }`;
    const esm = `import * as a from 'spanline'; import * as b from '@spanline/profile'; ${program} print([a, b]);`;
    const cjs = `${program} print([require('spanline'), require('@spanline/profile')]);`;
    for (const args of [[consumer.write('kept.mjs', esm)], [NO_MODULES, consumer.write('kept.cjs', cjs)]]) {
      const { code, stdout, stderr } = consumer.node(args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { names, stack } = JSON.parse(stdout) as { names: string[][]; stack: string };
      expect(names).toEqual(expected);
      expect(stack).toMatch(/^ +at (?:\w+\.)?configure /m);
    }
  });

  test.each([[[]], [[NO_MODULES]]])('import and require give the very same, of every entry; flags: %j', (flags) => {
    const file = consumer.write(
      'both.mjs',
      `import { createRequire } from 'node:module';
       const require = createRequire(import.meta.url);
       for (const e of ${JSON.stringify(codeEntries(consumer.manifest))}) {
         const [module, required] = [await import(e), require(e)];
         for (const name of Object.keys(required)) if (module[name] !== required[name]) console.log(e, name);
       }`,
    );
    expect(consumer.node([...flags, file])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('a module that imports the CommonJS file by its path finds the same names', () => {
    const file = consumer.write(
      'by-path.mjs',
      `import { createRequire } from 'node:module';
       import { pathToFileURL } from 'node:url';
       const require = createRequire(import.meta.url);
       for (const e of ${JSON.stringify(codeEntries(consumer.manifest))}) {
         const module = await import(pathToFileURL(require.resolve(e)));
         for (const name of Object.keys(require(e))) if (!(name in module)) console.log(e, name);
       }`,
    );
    expect(consumer.node([file])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('CommonJS exports are plain properties, not getters that would be called at every use', () => {
    const file = consumer.write(
      'plain.cjs',
      `for (const e of ${JSON.stringify(codeEntries(consumer.manifest))})
         for (const [name, d] of Object.entries(Object.getOwnPropertyDescriptors(require(e))))
           if (d.get) console.log(e, name);`,
    );
    expect(consumer.node([NO_MODULES, file])).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const code = join(consumer.package, 'dist/cjs');
    for (const name of readdirSync(code, { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.js')) continue;
      const text = readFileSync(join(code, name), 'utf8');
      expect(text, name).not.toMatch(/defineProperty\((module\.)?exports\b/);
      // What another file exports is a constant: a property of it that is read at each use is a look-up on the hot path.
      for (const [line] of text.matchAll(/^.*\brequire\("\.[^"]*"\).*$/gm)) expect(line, name).toMatch(AT_LOAD);
    }
  });

  test('every file is strict, so that a plain call has no `this` to pass on', () => {
    const code = join(consumer.package, 'dist/cjs');
    const files = readdirSync(code, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    const isStrict = (name: string): boolean => /^(#!.*\n)?"use strict";/.test(readFileSync(join(code, name), 'utf8'));
    expect(files.length).toBeGreaterThan(30);
    expect(files.filter((name) => !isStrict(name))).toEqual([]);
  });

  test('the core is one chunk that imports only Node itself and the errors of the base', () => {
    const importsOf = (chunk: string): string[] => {
      const text = readFileSync(join(consumer.package, `dist/cjs/chunks/${chunk}.js`), 'utf8');
      return [...text.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, specifier]) => specifier);
    };
    expect(importsOf('core')).toEqual(['./base.js']);
    expect(importsOf('base')).toEqual([]);
    expect(readFileSync(join(consumer.package, 'dist/cjs/index.js'), 'utf8')).not.toMatch(/\b(class|function)\b/);
  });

  test('no entry makes what texts are segmented by when it is loaded: that takes 20 ms', () => {
    const file = consumer.write(
      'segmenter.cjs',
      `Intl.Segmenter = class { constructor() { throw new Error('a segmenter was made'); } };
       for (const e of ${JSON.stringify(codeEntries(consumer.manifest))}) require(e);`,
    );
    expect(consumer.node([NO_MODULES, file])).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  test('nothing runs at installation', () => {
    const { scripts = {} } = consumer.manifest;
    const hooks = ['preinstall', 'install', 'postinstall', 'prepare'];
    expect(hooks.filter((hook) => hook in scripts)).toEqual([]);
    expect(readdirSync(consumer.package)).not.toContain('binding.gyp');
  });
});
