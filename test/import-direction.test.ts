// A room of src imports only from the floors below it, and the recording core needs no package at run time.
import { isBuiltin } from 'node:module';
import { dirname, posix } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { sourceFiles, sourceFolders, sourceText } from './support/sources.js';

/** A room of src: what it may import is all below its floor, unless `imports` or `reach` say less. */
interface Room {
  readonly floor: number;
  /** The highest floor it may import from, where that is not the one below its own. */
  readonly reach?: number;
  /** Rooms of its own floor that it may import. */
  readonly beside?: readonly string[];
  /** Packages it may import at run time, beyond Node's own modules. */
  readonly packages?: readonly string[];
}

/** The core. */
const ROOMS: Readonly<Record<string, Room>> = {
  // src/index.ts, the front door: hands out the core, for each exporter is an entry of its own, and what `configure` switches on.
  '': { floor: 8, reach: 6 },
  // What packages may use beyond public names.
  internal: { floor: 8, reach: 6 },
  // Puts what lies below together as the environment asks.
  register: { floor: 8 },
  instrument: { floor: 7 },
  exporters: { floor: 6 },
  otel: { floor: 6, packages: ['@opentelemetry/api'] },
  'flight-recorder': { floor: 6 },
  formats: { floor: 5 },
  // Shapes of finished traces, for tests.
  testing: { floor: 5 },
  // The collector makes records, which are one form of a finished span.
  collector: { floor: 4, beside: ['trace'] },
  trace: { floor: 4 },
  span: { floor: 3 },
  context: { floor: 2 },
  'local-span': { floor: 2, beside: ['context'] },
  clock: { floor: 1 },
  base: { floor: 0 },
};

/** A design beside the core: rooms that take from elsewhere only what entries export. */
interface Package {
  readonly rooms: readonly string[];
  /** Entries of the core and of other packages, as paths without extension; a `*` stands for the rest of one. */
  readonly takes: readonly string[];
  /** Packages of others that it may import at run time. */
  readonly packages?: readonly string[];
}

/** Each may import what stands below it alone. */
const PACKAGES: Readonly<Record<string, Package>> = {
  cli: {
    rooms: ['cli'],
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
    ],
    packages: ['commander', 'asciichart', 'autocannon'],
  },
  ui: {
    rooms: ['ui'],
    takes: [
      'internal/*',
      'flight-recorder/index',
      'graph/index',
      'archive/*',
      'profile/*',
      'tracedb/*',
      'tracedb/bench-history/index',
    ],
  },
  // Runs in a browser: of what is around it only types, which hold nothing of Node.
  'ui/page': { rooms: ['ui/page'], takes: [], packages: ['preact', 'uplot'] },
  // Instrumented with spans.
  tracedb: {
    rooms: ['tracedb'],
    takes: ['index', 'internal/base', 'internal/rows', 'testing/index'],
    packages: ['lmdb', '@google-cloud/bigtable', 're2js', 'jstat', 'simple-statistics'],
  },
  profile: {
    rooms: ['profile'],
    takes: ['index', 'internal/base', 'internal/rows'],
    packages: ['pprof-format', '@jridgewell/trace-mapping'],
  },
  archive: {
    rooms: ['archive'],
    takes: [
      'index',
      'internal/base',
      'internal/record',
      'internal/formats',
      'internal/timeline',
      'graph/index',
      'graph/internal',
    ],
  },
  // Knows nothing of spans.
  graph: { rooms: ['graph'], takes: ['internal/base'], packages: ['aws4fetch'] },
};

/** Inside a package, what must not know another part of it. */
const BLIND: readonly (readonly [part: RegExp, other: RegExp])[] = [
  [/^graph\/container\//, /^graph\/(?!container\/)/],
  // Histories of benchmarks use the trace databases, not the other way round.
  [/^tracedb\/(?!bench-history\/|internal\.ts$)/, /^tracedb\/bench-history\//],
];

/** Where the core reaches for a package, which may be absent. */
const REACHES_UP = ['register/reporters.ts -> archive/index'];

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
  /** Names that it takes; undefined for all. */
  readonly names?: readonly string[];
}

/** Where the files are, by their paths in one tree of all rooms: a package of ours is a room of its name. */
const fileOf = new Map(
  sourceFiles.map((file) => [
    file.replace(/^(?:src|packages\/([\w-]+)\/src)\//, (_, name?: string) => (name === undefined ? '' : `${name}/`)),
    file,
  ]),
);
/** Rooms that have left the core's folder. */
const LEFT = new Set(sourceFolders.slice(1).map((folder) => folder.split('/')[1]));

function importsOf(fileName: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean, list?: ts.NamedImports | ts.NamedExports) => {
    if (node === undefined || !ts.isStringLiteralLike(node)) return;
    const names = list?.elements.map(({ propertyName, name }) => (propertyName ?? name).text);
    found.push({ specifier: node.text, typeOnly, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) {
      const bindings = node.importClause?.namedBindings;
      const list = bindings && ts.isNamedImports(bindings) ? bindings : undefined;
      add(node.moduleSpecifier, node.importClause?.isTypeOnly === true, list);
    } else if (ts.isExportDeclaration(node)) {
      const list = node.exportClause && ts.isNamedExports(node.exportClause) ? node.exportClause : undefined;
      add(node.moduleSpecifier, node.isTypeOnly, list);
    }
    if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    else if (ts.isCallExpression(node)) {
      const callee = node.expression;
      const isRequire = ts.isIdentifier(callee) && callee.text === 'require';
      if (callee.kind === ts.SyntaxKind.ImportKeyword || isRequire) add(node.arguments[0], false);
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest));
  return found;
}

/** The room of a path relative to src; '' for the front door. */
const roomOf = (path: string): string => {
  if (path.startsWith('ui/page/')) return 'ui/page';
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : '';
};
/** The folder of a room: `src`, or its own in `packages`. */
const homeOf = (room: string): string => {
  const [name] = room.split('/');
  return LEFT.has(name) ? name : 'src';
};
const reachOf = (room: string): number => ROOMS[room].reach ?? ROOMS[room].floor - 1;

/** The package of a room; undefined for the core. */
const packageOf = (room: string): string | undefined =>
  Object.keys(PACKAGES).find((name) => PACKAGES[name].rooms.includes(room));

/** The path that a relative import of `file` names, still with the extension `.js`. */
const targetOf = (file: string, specifier: string): string => posix.join(dirname(file), specifier);

const BY_NAME = /^(?:@spanline\/([\w-]+)|spanline)(?:\/(.+))?$/;

/** The path, without extension, of the entry that a name of a package of ours means; undefined for other names. */
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

const shown = (room: string): string => room || 'the front door';

/** What is wrong with an import of another package than ours. */
function packageFault(room: string, { specifier, typeOnly }: Import): string | undefined {
  if (isBuiltin(specifier)) return specifier.startsWith('node:') ? undefined : `write node:${specifier}`;
  const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
  const { packages } = PACKAGES[packageOf(room) ?? ''] ?? ROOMS[room];
  if (packages?.includes(name)) return undefined;
  if (typeOnly && name === '@opentelemetry/api') return undefined;
  return `${shown(room)} must not import the package ${name}${typeOnly ? '' : ' at run time'}`;
}

/** What is wrong with an import that crosses the border of a package. */
function borderFault(file: string, path: string, typeOnly: boolean): string | undefined {
  const [own, other] = [packageOf(roomOf(file)), packageOf(roomOf(path))];
  // Types of what answers it.
  if (own === 'ui/page' && other === 'ui')
    return typeOnly ? undefined : 'the page runs in a browser and takes types only';
  if (own === undefined)
    return REACHES_UP.includes(`${file} -> ${path}`) ? undefined : `the core must not reach up to ${other}`;
  if (PACKAGES[own].takes.some((pattern) => isEntry(pattern, path))) return undefined;
  return `${own} must not take ${path}, but what entries below it export`;
}

/** What is wrong with one import, or undefined. */
function fault(file: string, found: Import): string | undefined {
  const { specifier, typeOnly } = found;
  const room = roomOf(file);
  const named = entryOf(specifier);
  if (named !== undefined) {
    if (homeOf(room) === homeOf(roomOf(named))) return 'a package imports its own files by relative paths';
    return borderFault(file, named, typeOnly);
  }
  if (!specifier.startsWith('.')) return packageFault(room, found);
  if (!specifier.endsWith('.js') && !(room === 'ui/page' && specifier.endsWith('.css')))
    return 'relative imports end in .js';
  const path = targetOf(file, specifier).replace(/\.js$/, '');
  const target = roomOf(path);
  if (BLIND.some(([part, other]) => part.test(file) && other.test(path))) return `${file} knows nothing of ${path}`;
  if (target === room) return undefined;
  if (homeOf(room) !== homeOf(target)) return 'what another package has is imported by its name';
  if (packageOf(room) !== packageOf(target)) return borderFault(file, path, typeOnly);
  if (ROOMS[room].beside?.includes(target) || ROOMS[target].floor <= reachOf(room)) return undefined;
  return `${shown(room)} reaches up to floor ${reachOf(room)}; ${shown(target)} is on ${ROOMS[target].floor}`;
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
  test('every file of src is in a known room', () => {
    expect(sources.length).toBeGreaterThan(20);
    const isKnown = (room: string): boolean => ROOMS[room] !== undefined || packageOf(room) !== undefined;
    expect(sources.filter((file) => !isKnown(roomOf(file)))).toEqual([]);
  });

  test('all imports point downwards', () => {
    expect([...importsBySource].flatMap(([file, imports]) => faultsOf(file, imports))).toEqual([]);
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
    ['trace/x.ts', `import type { A } from '../collector/a.js';`],
    ['formats/x.ts', `import type { A } from '../archive/a.js';`],
    ['exporters/x.ts', `import { a } from '../index.js';`],
    ['graph/x.ts', `import { a } from 'spanline';`],
    ['graph/container/x.ts', `import type { A } from '../a.js';`],
    ['graph/container/x.ts', `import type { A } from 'spanline/internal/rows';`],
    ['archive/x.ts', `import type { A } from '../trace/a.js';`],
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
    ['register/reporters.ts', `const a = await import('@spanline/archive');`],
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
