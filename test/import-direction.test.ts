// A room of src imports only from the floors below it, and the recording core needs no package at run time.
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

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

const ROOMS: Readonly<Record<string, Room>> = {
  cli: { floor: 9, beside: ['ui'], packages: ['commander', 'asciichart', 'autocannon'] },
  ui: { floor: 9 },
  // Runs in a browser: of the room around it only types, which hold nothing of Node.
  'ui/page': { floor: 9, reach: -1, beside: ['ui'], packages: ['preact', 'uplot'] },
  // src/index.ts, the front door: hands out the core, for each exporter is an entry of its own, and what `configure` switches on.
  '': { floor: 8, reach: 6 },
  'bench-history': { floor: 8 },
  // Puts what lies below together as the environment asks.
  register: { floor: 8 },
  archive: { floor: 7 },
  instrument: { floor: 7 },
  exporters: { floor: 6 },
  otel: { floor: 6, packages: ['@opentelemetry/api'] },
  profile: { floor: 6, packages: ['pprof-format', '@jridgewell/trace-mapping'] },
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
  // Wings. For rooms from floor 7 up, which know finished spans; they themselves know nothing of spans.
  container: { floor: 6, reach: 0, packages: ['aws4fetch'] },
  graph: { floor: 6, reach: 0, beside: ['container'] },
  // For rooms from floor 7 up; instrumented with spans.
  tracedb: {
    floor: 6,
    reach: 5,
    packages: ['lmdb', '@google-cloud/bigtable', 're2js', 'jstat', 'simple-statistics'],
  },
};

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const src = fileURLToPath(new URL('../src/', import.meta.url));

function importsOf(fileName: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, typeOnly: boolean) => {
    if (node !== undefined && ts.isStringLiteralLike(node)) found.push({ specifier: node.text, typeOnly });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.isTypeOnly === true);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
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
const reachOf = (room: string): number => ROOMS[room].reach ?? ROOMS[room].floor - 1;

/** The path relative to src that a relative import of `file` names, still with the extension `.js`. */
const targetOf = (file: string, specifier: string): string =>
  relative(src, join(src, dirname(file), specifier)).replaceAll('\\', '/');

/** What is wrong with one import, or undefined. */
function fault(file: string, { specifier, typeOnly }: Import): string | undefined {
  const room = roomOf(file);
  if (!specifier.startsWith('.')) {
    if (isBuiltin(specifier)) return specifier.startsWith('node:') ? undefined : `write node:${specifier}`;
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    if (ROOMS[room].packages?.includes(name)) return undefined;
    if (typeOnly && name === '@opentelemetry/api') return undefined;
    return `${room || 'the front door'} must not import the package ${name}${typeOnly ? '' : ' at run time'}`;
  }
  if (!specifier.endsWith('.js') && !(room === 'ui/page' && specifier.endsWith('.css')))
    return 'relative imports end in .js';
  const target = roomOf(targetOf(file, specifier));
  if (room === 'ui/page' && target === 'ui' && !typeOnly) return 'the page runs in a browser and takes types only';
  if (target === room || ROOMS[room].beside?.includes(target)) return undefined;
  if (ROOMS[target].floor <= reachOf(room)) return undefined;
  return `${room || 'the front door'} reaches up to floor ${reachOf(room)}; ${target || 'the front door'} is on ${ROOMS[target].floor}`;
}

const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file));

/** Imports of each file of src, which are parsed once. */
const importsBySource = new Map(sources.map((file) => [file, importsOf(file, readFileSync(join(src, file), 'utf8'))]));

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

/** The files that `file` imports by a relative path, types included; without their extensions. */
const relativeImports = (file: string, imports: readonly Import[]): string[] =>
  imports
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => withoutExtension(targetOf(file, specifier)));

describe('import direction', () => {
  test('every file of src is in a known room', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter((file) => ROOMS[roomOf(file)] === undefined)).toEqual([]);
  });

  test('all imports point downwards', () => {
    expect([...importsBySource].flatMap(([file, imports]) => faultsOf(file, imports))).toEqual([]);
  });

  test('one file alone loads the API of OpenTelemetry, which recording does not need', () => {
    const loading = [...importsBySource].filter(([, imports]) =>
      imports.some(({ specifier, typeOnly }) => specifier === '@opentelemetry/api' && !typeOnly),
    );
    expect(loading.map(([file]) => file)).toEqual(['otel/tracer-provider.ts']);
  });

  test('no files import one another in a circle, types included', () => {
    const importsByFile = new Map(
      [...importsBySource].map(([file, imports]) => [withoutExtension(file), relativeImports(file, imports)]),
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
      Object.entries(texts).map(([file, text]) => [
        withoutExtension(file),
        relativeImports(file, importsOf(file, text)),
      ]),
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
    ['graph/x.ts', `import { a } from '../span/a.js';`],
    ['container/x.ts', `import type { A } from '../graph/a.js';`],
    ['span/x.ts', `import { a } from '../graph/a.js';`],
    ['span/x.ts', `import { a } from '@opentelemetry/api';`],
    ['clock/x.ts', `import { readFileSync } from 'fs';`],
    ['exporters/x.ts', `const p = require('protobufjs/light');`],
    ['index.ts', `export { a } from './cli/a.js';`],
  ])('a wrong import is seen: %s %s', (file, text) => {
    expect(faultsOf(file, importsOf(file, text))).toHaveLength(1);
  });

  test.each([
    ['collector/x.ts', `import { now } from '../clock/now.js';`],
    ['graph/x.ts', `import { a } from '../base/bytes/a.js'; import { b } from '../container/b.js';`],
    ['span/jaeger/x.ts', `import { a } from '../../local-span/a.js'; import { b } from '../b.js';`],
    ['exporters/x.ts', `import type { Attributes } from '@opentelemetry/api'; import { connect } from 'node:net';`],
    ['index.ts', `export { a } from './collector/a.js';`],
    [
      'cli/x.ts',
      `import { Command } from 'commander'; import { a } from '../exporters/a.js'; import { b } from '../index.js';`,
    ],
  ])('a right import passes: %s %s', (file, text) => {
    expect(faultsOf(file, importsOf(file, text))).toEqual([]);
  });
});
