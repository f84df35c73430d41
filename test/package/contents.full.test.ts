// Each tarball holds what its entry points reach and nothing else: code, declarations, and modules that are found by their path. What package.json says
// of side effects is true of files that are there.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pack } from '../../scripts/lib/pack.mjs';
import { packages } from '../../scripts/lib/packages.mjs';
import { specifiersOf } from '../support/imports.js';
import { Consumer, manifestIn } from './consumer.js';

interface Targets {
  readonly [key: string]: string | Targets;
}

/** Modules that code finds by their path, which no import names. */
const FOUND_BY_PATH: Readonly<Record<string, readonly string[]>> = {
  '': ['dist/cjs/flight-recorder/recorder-feature.js'],
  'packages/archive': ['dist/cjs/archive/archive-worker.js'],
  'packages/cli': ['dist/esm/bench/otlp-sink.js', 'dist/esm/profile/preload.js', 'dist/esm/profile/agent.js'],
};
/** `spanline run` loads the core's by its path. */
const PRELOAD = 'dist/esm/register/preload.js';

const ALWAYS = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md|dist\/cjs\/package\.json|dist\/ui\/.+|prebuilds\/.+)$/;

let consumer: Consumer;
beforeAll(() => {
  consumer = new Consumer();
});
afterAll(() => consumer?.dispose());

const placeOf = (folder: string): string =>
  folder === '' ? consumer.package : consumer.install(folder.slice('packages/'.length));

const leaves = (targets: string | Targets): string[] =>
  typeof targets === 'string' ? [targets] : Object.values(targets).flatMap(leaves);

/** The files that an import of `file` can mean: code, or declarations where those import. */
const meant = (file: string, specifier: string): string => {
  const path = posix.join(posix.dirname(file), specifier);
  return file.endsWith('.d.ts') ? path.replace(/\.js$/, '.d.ts') : path;
};

/** All files that `starts` lead to. */
const reached = (place: string, starts: readonly string[]): Set<string> => {
  const files = new Set(starts.map((path) => posix.normalize(path)));
  // Grows while it is gone through.
  for (const file of files) {
    if (!/\.(js|d\.ts)$/.test(file)) continue;
    const specifiers = specifiersOf(readFileSync(join(place, file), 'utf8'));
    for (const one of specifiers) if (one.startsWith('.')) files.add(meant(file, one));
  }
  return files;
};

/** The CommonJS file of each entry. */
const required = (targets: string | Targets): string[] => {
  if (typeof targets === 'string') return [];
  const { require = {} } = targets;
  return typeof require === 'object' && typeof require.default === 'string'
    ? [require.default]
    : Object.values(targets).flatMap(required);
};

describe.each(packages.map((one) => [one.folder, one] as const))('the tarball of %j', (folder, one) => {
  test('has short entries, which Node searches for names where a module imports them', () => {
    const place = placeOf(folder);
    const files = required((manifestIn(place) as unknown as { exports: Targets }).exports);
    if (folder !== 'packages/cli') expect(files.length).toBeGreaterThan(0);
    expect(files.filter((path) => statSync(join(place, path)).size > 4096)).toEqual([]);
  });

  test('holds what entry points reach, and all of it', () => {
    const place = placeOf(folder);
    const { exports, bin = {} } = manifestIn(place) as unknown as { exports: Targets; bin?: Targets };
    const byPath = [...(FOUND_BY_PATH[folder] ?? []), ...(folder === '' ? [PRELOAD] : [])];
    const expected = reached(place, [...leaves(exports), ...leaves(bin), ...byPath]);
    const packed = pack(one).files.map(({ path }) => path);
    expect(packed.length).toBeGreaterThan(5);
    expect(packed.filter((path) => !expected.has(path) && !ALWAYS.test(path))).toEqual([]);
    expect([...expected].filter((path) => !packed.includes(path))).toEqual([]);
  });

  test('has each built file that package.json says has side effects', () => {
    const place = placeOf(folder);
    const { sideEffects } = manifestIn(place) as unknown as { sideEffects?: false | readonly string[] };
    const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).map((path) => `./${path}`);
    const patterns = (sideEffects || []).filter((path) => path.startsWith('./dist/'));
    const toPattern = (path: string): RegExp => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll('*', '[^/]*')}$`);
    expect(patterns.filter((path) => !files.some((file) => toPattern(path).test(file)))).toEqual([]);
  });
});

test('graph loads nothing of the core but its base', () => {
  consumer.install('graph');
  const file = consumer.write(
    'graph.mjs',
    `import { createRequire } from 'node:module';
     for (const entry of ['@spanline/graph', '@spanline/graph/internal']) await import(entry);
     const { cache } = createRequire(import.meta.url);
     const files = Object.keys(cache).map((path) => path.replaceAll('\\\\', '/').split('/node_modules/spanline/')[1]);
     console.log(JSON.stringify(files.filter((path) => path !== undefined)));`,
  );
  const { code, stdout, stderr } = consumer.node([file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const loaded = JSON.parse(stdout) as string[];
  expect(loaded).toContain('dist/cjs/internal/base.js');
  expect(
    loaded.filter((path) => !/^dist\/cjs\/(internal\/base|chunks\/(base|files|values\d?))\.js$/.test(path)),
  ).toEqual([]);
});
