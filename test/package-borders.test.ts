// What a package of the workspace says of itself is what its sources do: dependencies are what they import, side effects are in files that exist; and
// its tests take nothing from packages above it.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { packages } from '../scripts/lib/packages.mjs';
import { root } from './support/built.js';
import { specifiersOf } from './support/imports.js';
import { sourceFiles, sourceText } from './support/sources.js';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly sideEffects?: false | readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

const folders = packages.map(({ folder }) => folder);
const manifests = new Map<string, Manifest>(
  folders.map((folder) => [folder, JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))]),
);
const manifestOf = (folder: string): Manifest => manifests.get(folder) as Manifest;

const nameOf = (specifier: string): string => specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Is bundled with all that it imports. */
const PAGE = 'packages/ui/src/page/';

const sourcesOf = (folder: string): readonly string[] =>
  sourceFiles.filter((file) => file.startsWith(posix.join(folder, 'src/')));

/** Names of packages that files import, sorted. */
const imported = (files: readonly string[]): string[] => {
  const specifiers = files.flatMap((file) => specifiersOf(sourceText(file)));
  return [...new Set(specifiers.filter((one) => !one.startsWith('.') && !isBuiltin(one)).map(nameOf))].sort();
};

/** Packages that work without: what the core and `@spanline/tracedb` load when a program asks for it. */
const OPTIONAL: Readonly<Record<string, readonly string[]>> = {
  '': ['@opentelemetry/api', '@spanline/archive'],
  'packages/archive': ['@aws-sdk/credential-provider-node'],
  'packages/tracedb': ['@google-cloud/bigtable'],
};

const TEST_FILE = /\.[cm]?[jt]sx?$/;

const testFilesOf = (folder: string): string[] =>
  readdirSync(join(root, folder, 'test'), { recursive: true, encoding: 'utf8' })
    .map((name) => posix.join(folder, 'test', name.replaceAll('\\', '/')))
    .filter((file) => TEST_FILE.test(file) && !file.includes('/node_modules/'));

/** The package and those that it depends on: their folders. */
const withThoseBelow = (folder: string): string[] => {
  const { dependencies, peerDependencies } = manifestOf(folder);
  const below = folders.filter((one) => manifestOf(one).name in { ...dependencies, ...peerDependencies });
  return [folder, ...(folder === '' ? [] : below.flatMap(withThoseBelow))];
};

/** The folder of the package that an import means; the root's for what belongs to no other. */
const targetOf = (file: string, specifier: string): string => {
  const byName = folders.find((folder) => manifestOf(folder).name === nameOf(specifier));
  if (!specifier.startsWith('.')) return byName ?? '';
  const path = posix.join(dirname(file), specifier);
  return folders.find((folder) => folder !== '' && path.startsWith(`${folder}/`)) ?? '';
};

/** Tests of the page that ask the command for the files and processes that it shows. */
const COMMAND_IN_TESTS = ['packages/ui/test/snapshots.full.test.ts', 'packages/ui/test/support/shop-profiles.ts'];

describe.each(folders)('package %j', (folder) => {
  const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {}, sideEffects } = manifestOf(folder);

  test('depends on exactly what its sources import', () => {
    const files = sourcesOf(folder).filter((file) => !file.startsWith(PAGE));
    expect(files.length).toBeGreaterThan(5);
    expect(Object.keys({ ...dependencies, ...peerDependencies }).sort()).toEqual(imported(files));
    expect(Object.keys(dependencies).filter((name) => name in peerDependencies)).toEqual([]);
  });

  test('has the core as a peer, or is the command; what is optional says so', () => {
    const ofCore = { dependency: dependencies.spanline, peer: peerDependencies.spanline };
    const { version } = manifestOf('');
    const expected = folder === 'packages/cli' ? { dependency: version } : folder === '' ? {} : { peer: version };
    expect(JSON.parse(JSON.stringify(ofCore))).toEqual(expected);
    const optional = Object.keys(peerDependenciesMeta).filter((name) => peerDependenciesMeta[name].optional);
    expect(optional.sort()).toEqual(OPTIONAL[folder] ?? []);
    expect(
      Object.keys(peerDependencies)
        .filter((name) => name !== 'spanline')
        .sort(),
    ).toEqual(optional);
  });

  test('has the version of all, and asks for no other of its siblings', () => {
    const { version } = manifestOf('');
    expect(manifestOf(folder).version).toBe(version);
    const asked = Object.entries({ ...dependencies, ...peerDependencies });
    const siblings = asked.filter(([name]) => /^(spanline$|@spanline\/)/.test(name));
    expect(siblings.filter(([, range]) => range !== version)).toEqual([]);
  });

  test('stands behind those that it depends on, for it is built after them', () => {
    const names = folders.map((one) => manifestOf(one).name);
    const needed = Object.keys({ ...dependencies, ...peerDependencies }).filter(
      (name) => !(name in peerDependenciesMeta),
    );
    const at = folders.indexOf(folder);
    expect(needed.filter((name) => names.indexOf(name) >= at)).toEqual([]);
  });

  test('files with side effects exist', () => {
    const sources = (sideEffects || []).filter((path) => path.startsWith('./src/'));
    expect(sources.filter((path) => !existsSync(join(root, folder, path)))).toEqual([]);
  });

  test.runIf(folder !== '')('its tests take from it, from the core and from packages below it', () => {
    const allowed = new Set([...withThoseBelow(folder), '']);
    const files = testFilesOf(folder);
    expect(files.length).toBeGreaterThan(3);
    const upwards = files.flatMap((file) =>
      specifiersOf(sourceText(file))
        .filter((specifier) => !allowed.has(targetOf(file, specifier)))
        .filter((specifier) => !(COMMAND_IN_TESTS.includes(file) && specifier.endsWith('cli/test/support/spanline.js')))
        .map((specifier) => `${file}: ${specifier}`),
    );
    expect(upwards).toEqual([]);
  });
});

test('what the page in the browser imports the root installs, and no package asks for', () => {
  const libraries = imported(sourceFiles.filter((file) => file.startsWith(PAGE))).filter(
    (name) => !name.startsWith('@spanline/'),
  );
  expect(libraries).toEqual(['preact', 'uplot']);
  expect(libraries.filter((name) => !(name in (manifestOf('').devDependencies ?? {})))).toEqual([]);
  for (const [, { dependencies = {} }] of manifests) {
    expect(libraries.filter((name) => name in dependencies)).toEqual([]);
  }
});
