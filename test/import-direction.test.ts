// A module of src imports only from the layers below it, types included; a package beside the core only what entry points below it export; and the recording
// core needs no package of others at run time.
import { isBuiltin } from 'node:module';
import { dirname, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Import, importsOf } from './support/imports.js';
import { sourceFiles, sourceFolders, sourceText } from './support/sources.js';

/** A module, which is a folder of src: what it may import is all below its layer, unless `imports` or `reach` say less. */
interface Module {
  readonly layer: number;
  /** The highest layer it may import from, where that is not the one below its own. */
  readonly reach?: number;
  /** Modules of its own layer that it may import. */
  readonly beside?: readonly string[];
  /** Packages it may import at run time, beyond Node's own modules. */
  readonly packages?: readonly string[];
}

/** The core. */
const MODULES: Readonly<Record<string, Module>> = {
  // src/index.ts, the entry point of the core: exports it, for each exporter is an entry of its own, and what `configure` switches on.
  '': { layer: 10, reach: 8 },
  // What packages may use beyond public names.
  internal: { layer: 10, reach: 8 },
  // Puts what lies below together as the environment asks.
  register: { layer: 10 },
  instrument: { layer: 9 },
  exporters: { layer: 8 },
  // Sent by the exporters' HTTP.
  metrics: { layer: 8, beside: ['exporters'] },
  otel: { layer: 8, packages: ['@opentelemetry/api'] },
  'flight-recorder': { layer: 8 },
  formats: { layer: 7 },
  // Shapes of finished traces, for tests.
  testing: { layer: 7 },
  // The collector makes records, which are one form of a finished span.
  collector: { layer: 6, beside: ['record'] },
  record: { layer: 6 },
  span: { layer: 5 },
  'local-span': { layer: 4 },
  rows: { layer: 3 },
  context: { layer: 2 },
  clock: { layer: 1 },
  base: { layer: 0 },
};

/** A package beside the core: modules that import from elsewhere only what entry points export. */
interface Package {
  readonly modules: readonly string[];
  /** Entry points of the core and of other packages, as paths without extension; a `*` stands for the rest of one. */
  readonly takes: readonly string[];
  /** Packages of others that it may import at run time. */
  readonly packages?: readonly string[];
}

/** Each may import what stands below it alone. */
const PACKAGES: Readonly<Record<string, Package>> = {
  cli: {
    modules: ['cli'],
    takes: [
      'index',
      'internal/*',
      'exporters/memory',
      'exporters/otlp',
      'flight-recorder/index',
      'graph/index',
      'archive/*',
      'profile/*',
      'tracedb/*',
      'tracedb/bench-history/index',
      'ui/internal',
      'ui/internal/inspector',
    ],
    packages: ['commander', 'asciichart', 'autocannon'],
  },
  ui: {
    modules: ['ui'],
    takes: [
      'internal/*',
      'flight-recorder/index',
      'testing/index',
      'graph/index',
      'archive/*',
      'profile/*',
      'tracedb/*',
      'tracedb/bench-history/index',
    ],
  },
  // Runs in a browser: of what is around it only types, which hold nothing of Node.
  'ui/page': { modules: ['ui/page'], takes: [], packages: ['preact', 'uplot'] },
  // Instrumented with spans.
  tracedb: {
    modules: ['tracedb'],
    takes: ['index', 'internal/base', 'internal/rows', 'testing/index'],
    packages: ['lmdb', '@google-cloud/bigtable', 're2js', 'jstat', 'simple-statistics'],
  },
  profile: {
    modules: ['profile'],
    takes: ['index', 'internal/base', 'internal/rows'],
    packages: ['pprof-format', '@jridgewell/trace-mapping'],
  },
  archive: {
    modules: ['archive'],
    takes: [
      'index',
      'internal/base',
      'internal/record',
      'internal/formats',
      'internal/timeline',
      'graph/index',
      'graph/internal',
    ],
    packages: ['aws4fetch', 'fast-xml-parser', '@aws-sdk/credential-provider-node'],
  },
  // Knows nothing of spans.
  graph: { modules: ['graph'], takes: ['internal/base'], packages: ['aws4fetch'] },
};

/** Inside a package, what must not import another part of it. */
const BLIND: readonly (readonly [part: RegExp, other: RegExp])[] = [
  [/^graph\/container\//, /^graph\/(?!container\/)/],
  // Histories of benchmarks use the trace databases, not the other way round.
  [/^tracedb\/(?!bench-history\/|internal\.ts$)/, /^tracedb\/bench-history\//],
];

/** Where the core reaches for a package, which may be absent. */
const REACHES_UP = ['register/archive.ts -> archive/index'];

/** Where the files are, by their paths in one tree of all modules: a package of ours is a module of its name. */
const fileOf = new Map(
  sourceFiles.map((file) => [
    file.replace(/^(?:src|packages\/([\w-]+)\/src)\//, (_, name?: string) => (name === undefined ? '' : `${name}/`)),
    file,
  ]),
);
/** Packages beside the core. */
const BESIDE_CORE = new Set(sourceFolders.slice(1).map((folder) => folder.split('/')[1]));

/** The module of a path relative to src; '' for the entry point of the core. */
const moduleOf = (path: string): string => {
  if (path.startsWith('ui/page/')) return 'ui/page';
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
};
/** The folder of a module: `src`, or its own in `packages`. */
const folderOf = (module: string): string => {
  const [name] = module.split('/');
  return BESIDE_CORE.has(name) ? name : 'src';
};
const reachOf = (module: string): number => MODULES[module].reach ?? MODULES[module].layer - 1;

/** The package of a module; undefined for the core. */
const packageOf = (module: string): string | undefined =>
  Object.keys(PACKAGES).find((name) => PACKAGES[name].modules.includes(module));

/** The path that a relative import of `file` names, still with the extension `.js`. */
const targetOf = (file: string, specifier: string): string => posix.join(dirname(file), specifier);

const BY_NAME = /^(?:@spanline\/([\w-]+)|spanline)(?:\/(.+))?$/;

/** The path, without extension, of the entry point that a name of a package of ours means; undefined for other names. */
function entryOf(specifier: string): string | undefined {
  const [whole, name, entry] = BY_NAME.exec(specifier) ?? [];
  if (whole === undefined) return undefined;
  const path = [name, entry].filter(Boolean).join('/');
  return [path, path === '' ? 'index' : `${path}/index`].find((one) => fileOf.has(`${one}.ts`)) ?? path;
}

/** The path of what an import means, where that is ours; without extension. */
const pathOf = (file: string, specifier: string): string | undefined =>
  specifier.startsWith('.') ? withoutExtension(targetOf(file, specifier)) : entryOf(specifier);

const isEntry = (pattern: string, path: string): boolean =>
  pattern.endsWith('*')
    ? path.startsWith(pattern.slice(0, -1)) && /\/(index|internal(\/[\w-]+)?)$|^internal\/\w+$/.test(path)
    : path === pattern;

const shown = (module: string): string => module || 'the entry point';

/** What is wrong with an import of another package than ours. */
function packageFault(module: string, { specifier, typeOnly }: Import): string | undefined {
  if (isBuiltin(specifier)) return specifier.startsWith('node:') ? undefined : `write node:${specifier}`;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const { packages } = PACKAGES[packageOf(module) ?? ''] ?? MODULES[module];
  if (packages?.includes(name)) return undefined;
  if (typeOnly && name === '@opentelemetry/api') return undefined;
  return `${shown(module)} must not import the package ${name}${typeOnly ? '' : ' at run time'}`;
}

/** What is wrong with an import that crosses the border of a package. */
function borderFault(file: string, path: string, typeOnly: boolean): string | undefined {
  const [own, other] = [packageOf(moduleOf(file)), packageOf(moduleOf(path))];
  // Types of what answers it.
  if (own === 'ui/page' && other === 'ui')
    return typeOnly ? undefined : 'the page runs in a browser and takes types only';
  if (own === undefined)
    return REACHES_UP.includes(`${file} -> ${path}`) ? undefined : `the core must not reach up to ${other}`;
  if (PACKAGES[own].takes.some((pattern) => isEntry(pattern, path))) return undefined;
  return `${own} must not take ${path}, but what entry points below it export`;
}

/** What is wrong with one import, or undefined. */
function fault(file: string, found: Import): string | undefined {
  const { specifier, typeOnly } = found;
  const module = moduleOf(file);
  const named = entryOf(specifier);
  if (named !== undefined) {
    if (folderOf(module) === folderOf(moduleOf(named))) return 'a package imports its own files by relative paths';
    return borderFault(file, named, typeOnly);
  }
  if (!specifier.startsWith('.')) return packageFault(module, found);
  if (!specifier.endsWith('.js') && !(module === 'ui/page' && specifier.endsWith('.css')))
    return 'relative imports end in .js';
  const path = targetOf(file, specifier).replace(/\.js$/, '');
  const target = moduleOf(path);
  if (BLIND.some(([part, other]) => part.test(file) && other.test(path))) return `${file} must not import ${path}`;
  if (target === module) return undefined;
  if (folderOf(module) !== folderOf(target)) return 'what another package has is imported by its name';
  if (packageOf(module) !== packageOf(target)) return borderFault(file, path, typeOnly);
  if (MODULES[module].beside?.includes(target) || MODULES[target].layer <= reachOf(module)) return undefined;
  return `${shown(module)} may import up to layer ${reachOf(module)}; ${shown(target)} is layer ${MODULES[target].layer}`;
}

/** Imports of each file, which are parsed once. */
const importsBySource = new Map([...fileOf].map(([path, file]) => [path, importsOf(path, sourceText(file))]));
const sources = [...fileOf.keys()];

const faultsOf = (file: string, imports: readonly Import[]): string[] =>
  imports.flatMap((found) => {
    const wrong = fault(file, found);
    return wrong === undefined ? [] : [`${file}: '${found.specifier}': ${wrong}`];
  });

/** Chains of files that import one another in a circle, one for each file from which a chain comes back to itself. */
const circlesIn = (importsByFile: ReadonlyMap<string, readonly string[]>): string[] => {
  const circles: string[] = [];
  const done = new Set<string>();
  const chain: string[] = [];
  const visit = (file: string): void => {
    const at = chain.indexOf(file);
    if (at >= 0) circles.push([...chain.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    chain.push(file);
    for (const next of importsByFile.get(file) ?? []) visit(next);
    chain.pop();
    done.add(file);
  };
  for (const file of importsByFile.keys()) visit(file);
  return circles;
};

const withoutExtension = (file: string): string => file.replace(/\.[jt]sx?$/, '');

/** The files of ours that `file` imports, types included; without their extensions. */
const ownImports = (file: string, imports: readonly Import[]): string[] =>
  imports.map(({ specifier }) => pathOf(file, specifier)).filter((path) => path !== undefined);

/** What a file exports of other files, and what files take by name of others, by their paths without extension. */
const exportsBySource = new Map(
  sources.map((file) => [file, new Set(importsBySource.get(file)?.flatMap(({ names }) => names ?? []))]),
);
const namesBySource = new Map(
  sources.map((file) => [
    file,
    (importsBySource.get(file) ?? []).map(
      ({ specifier, names = [] }) => [pathOf(file, specifier) ?? specifier, names] as const,
    ),
  ]),
);

describe('import direction', () => {
  test('every source file is in a known module', () => {
    expect(sources.length).toBeGreaterThan(20);
    const isKnown = (module: string): boolean => MODULES[module] !== undefined || packageOf(module) !== undefined;
    expect(sources.filter((file) => !isKnown(moduleOf(file)))).toEqual([]);
  });

  test('all imports point downwards', () => {
    expect([...importsBySource].flatMap(([file, imports]) => faultsOf(file, imports))).toEqual([]);
  });

  test('a package stands above those that it imports from', () => {
    const names = Object.keys(PACKAGES);
    const upwards = names.flatMap((name, at) =>
      PACKAGES[name].takes.filter((pattern) => {
        const place = names.indexOf(pattern.split('/')[0]);
        return place >= 0 && place <= at;
      }),
    );
    expect(upwards).toEqual([]);
  });

  test('what a package may import it does import', () => {
    const idle = Object.entries(PACKAGES).flatMap(([name, { modules, takes, packages = [] }]) => {
      const imports = sources
        .filter((file) => modules.includes(moduleOf(file)))
        .flatMap((file) => (importsBySource.get(file) ?? []).map(({ specifier }) => ({ file, specifier })));
      const paths = imports.map(({ file, specifier }) => pathOf(file, specifier) ?? '');
      const isImported = (library: string): boolean =>
        imports.some(({ specifier }) => specifier === library || specifier.startsWith(`${library}/`));
      const unused = [
        ...takes.filter((pattern) => !paths.some((path) => isEntry(pattern, path))),
        ...packages.filter((library) => !isImported(library)),
      ];
      return unused.map((one) => `${name}: ${one}`);
    });
    expect(idle).toEqual([]);
  });

  test('a package exports to its siblings only what they import', () => {
    const taken = new Map<string, Set<string>>();
    for (const file of sources) {
      for (const [path, names] of namesBySource.get(file) ?? [])
        for (const name of names) taken.set(path, (taken.get(path) ?? new Set()).add(name));
    }
    const internals = sources.filter((file) => /^(internal\/\w+|[\w-]+\/internal(\/[\w-]+)?)\.ts$/.test(file));
    expect(internals.length).toBeGreaterThan(5);
    const unused = internals.flatMap((file) =>
      [...(exportsBySource.get(file) ?? [])]
        .filter((name) => !taken.get(withoutExtension(file))?.has(name))
        .map((name) => `${file}: ${name}`),
    );
    expect(unused).toEqual([]);
  });

  test('one file alone loads the API of OpenTelemetry, which recording does not need', () => {
    const loading = [...importsBySource].filter(([, imports]) =>
      imports.some(({ specifier, typeOnly }) => specifier === '@opentelemetry/api' && !typeOnly),
    );
    expect(loading.map(([file]) => file)).toEqual(['otel/tracer-provider.ts']);
  });

  test('no files import one another in a circle, types included', () => {
    const importsByFile = new Map(
      [...importsBySource].map(([file, imports]) => [withoutExtension(file), ownImports(file, imports)]),
    );
    expect(circlesIn(importsByFile)).toEqual([]);
  });

  test('a circle is seen, of types too', () => {
    const texts = {
      'a.ts': `import { b } from './b.js';`,
      'b.ts': `export type { C } from './c.js'; import './d.js';`,
      'c.ts': `let a: import('./a.js').A;`,
      'd.ts': `import type { D } from './d.js';`,
    };
    const importsByFile = new Map(
      Object.entries(texts).map(([file, text]) => [withoutExtension(file), ownImports(file, importsOf(file, text))]),
    );
    expect(circlesIn(importsByFile)).toEqual(['a -> b -> c -> a', 'd -> d']);
  });

  test.each([
    ['base/x.ts', `import { a } from '../clock/a.js';`],
    ['clock/x.ts', `import { a } from '../local-span/a.js';`],
    ['local-span/x.ts', `import type { A } from '../span/a.js';`],
    ['span/x.ts', `export * from '../collector/a.js';`],
    ['collector/x.ts', `const a = await import('../exporters/a.js');`],
    ['collector/x.ts', `let a: import('../exporters/a.js').A;`],
    ['collector/x.ts', `import a = require('../exporters/a.js');`],
    ['collector/x.ts', `declare module '../exporters/a.js' {}`],
    ['graph/x.ts', `export type A = typeof import('spanline');`],
    ['graph/x.ts', 'const a = await import(`@spanline/archive`);'],
    ['graph/x.ts', `const a = import.meta.resolve('spanline');`],
    ['span/x.ts', `const a = require.resolve('@spanline/archive');`],
    ['rows/x.ts', `import type { A } from '../local-span/a.js';`],
    ['record/x.ts', `import type { A } from '../collector/a.js';`],
    ['formats/x.ts', `import type { A } from '../archive/a.js';`],
    ['exporters/x.ts', `import { a } from '../index.js';`],
    ['graph/x.ts', `import { a } from 'spanline';`],
    ['graph/container/x.ts', `import type { A } from '../a.js';`],
    ['graph/container/x.ts', `import type { A } from 'spanline/internal/rows';`],
    ['archive/x.ts', `import type { A } from '../record/a.js';`],
    ['archive/x.ts', `import { a } from '@spanline/profile';`],
    ['profile/x.ts', `import { a } from 'spanline/internal/timeline';`],
    ['tracedb/x.ts', `import { a } from '@spanline/archive';`],
    ['tracedb/perf/x.ts', `import { a } from '../bench-history/a.js';`],
    ['ui/x.ts', `import { a } from '../archive/archive.js';`],
    ['ui/x.ts', `import { a } from '@spanline/cli/internal';`],
    ['cli/x.ts', `import { a } from 'spanline/exporters/jaeger';`],
    ['cli/x.ts', `import { a } from '@spanline/cli/x';`],
    ['cli/x.ts', `import { a } from '../internal/base.js';`],
    ['graph/x.ts', `import { a } from '@spanline/graph/internal';`],
    ['span/x.ts', `import { a } from 'spanline/internal/base';`],
    ['ui/page/x.ts', `import { a } from '../sources.js';`],
    ['register/x.ts', `import type { A } from '@spanline/archive';`],
    ['testing/x.ts', `import { a } from '@spanline/tracedb';`],
    ['span/x.ts', `import { a } from '@spanline/graph';`],
    ['span/x.ts', `import { a } from '@opentelemetry/api';`],
    ['clock/x.ts', `import { readFileSync } from 'fs';`],
    ['exporters/x.ts', `const p = require('protobufjs/light');`],
    ['index.ts', `export { a } from './cli/a.js';`],
  ])('a wrong import is seen: %s %s', (file, text) => {
    expect(faultsOf(file, importsOf(file, text))).toHaveLength(1);
  });

  test.each([
    ['collector/x.ts', `import { now } from '../clock/now.js';`],
    ['graph/x.ts', `import { a } from 'spanline/internal/base'; import { b } from './container/b.js';`],
    ['archive/x/y.ts', `import { a } from '@spanline/graph/internal'; import { b } from 'spanline';`],
    ['ui/page/x.ts', `import type { A } from '../sources.js';`],
    ['tracedb/bench-history/x.ts', `import { a } from '../perf/a.js'; import { b } from 'spanline/internal/base';`],
    ['register/archive.ts', `const a = await import('@spanline/archive');`],
    ['span/jaeger/x.ts', `import { a } from '../../local-span/a.js'; import { b } from '../b.js';`],
    ['exporters/x.ts', `import type { Attributes } from '@opentelemetry/api'; import { connect } from 'node:net';`],
    ['index.ts', `export { a } from './collector/a.js';`],
    [
      'cli/x.ts',
      `import { Command } from 'commander'; import { a } from 'spanline/internal/formats'; import { b } from 'spanline';`,
    ],
  ])('a right import passes: %s %s', (file, text) => {
    expect(faultsOf(file, importsOf(file, text))).toEqual([]);
  });
});
