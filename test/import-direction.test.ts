// A room of src imports only from the floors below it, and the recording core needs no package at run time.
import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

/** The floor of each room. `''` is src/index.ts, the front door: above the exporters, for only the command line may use it. */
const FLOORS: Readonly<Record<string, number>> = {
  '': 8,
  base: 0,
  clock: 1,
  'local-span': 2,
  span: 3,
  collector: 4,
  trace: 4,
  formats: 5,
  exporters: 6,
  // Wings: container and graph are for whoever knows finished spans, tracedb uses floors 0 to 4.
  container: 4,
  graph: 4,
  tracedb: 5,
  profile: 6,
  archive: 7,
  cli: 9,
};
/**
 * The highest floor of what a room may import, where it is not the one below its own. The front door hands out the core only, for each
 * exporter is an entry of its own; container and graph know nothing of spans.
 */
const REACHES: Readonly<Record<string, number>> = { '': 4, container: 0, graph: 0 };
/**
 * Rooms of its own floor that a room may use: the collector makes the records that are one form of a finished span, and graphs are kept in
 * containers.
 */
const BESIDE: Readonly<Record<string, readonly string[]>> = { collector: ['trace'], graph: ['container'] };

/** Packages a room may import at run time, beyond Node's own modules. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  cli: ['commander', 'asciichart'],
  container: ['aws4fetch'],
  profile: ['pprof-format', '@jridgewell/trace-mapping'],
  tracedb: ['lmdb', '@google-cloud/bigtable', 're2js', 'ajv', 'jstat', 'simple-statistics'],
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
const roomOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '');
const reachOf = (room: string): number => REACHES[room] ?? FLOORS[room] - 1;

/** What is wrong with one import, or undefined. */
function fault(file: string, { specifier, typeOnly }: Import): string | undefined {
  const room = roomOf(file);
  if (!specifier.startsWith('.')) {
    if (isBuiltin(specifier)) return specifier.startsWith('node:') ? undefined : `write node:${specifier}`;
    const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
    if (PACKAGES[room]?.includes(name)) return undefined;
    if (typeOnly && name === '@opentelemetry/api') return undefined;
    return `${room || 'the front door'} must not import the package ${name}${typeOnly ? '' : ' at run time'}`;
  }
  if (!specifier.endsWith('.js')) return 'relative imports end in .js';
  const target = roomOf(relative(src, join(src, dirname(file), specifier)).replaceAll('\\', '/'));
  if (target === room || BESIDE[room]?.includes(target)) return undefined;
  if (FLOORS[target] <= reachOf(room)) return undefined;
  return `${room || 'the front door'} reaches up to floor ${reachOf(room)}; ${target || 'the front door'} is on ${FLOORS[target]}`;
}

const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));

const faultsOf = (file: string, text: string): string[] =>
  importsOf(file, text).flatMap((found) => {
    const wrong = fault(file, found);
    return wrong === undefined ? [] : [`${file}: '${found.specifier}': ${wrong}`];
  });

describe('import direction', () => {
  test('every file of src is in a known room', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.filter((file) => FLOORS[roomOf(file)] === undefined)).toEqual([]);
  });

  test('all imports point downwards', () => {
    expect(sources.flatMap((file) => faultsOf(file, readFileSync(join(src, file), 'utf8')))).toEqual([]);
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
    expect(faultsOf(file, text)).toHaveLength(1);
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
    expect(faultsOf(file, text)).toEqual([]);
  });
});
