// The published declarations compile in a strict project that checks libraries too, for ESM, CommonJS and bundlers.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Consumer, codeEntries, manifestIn, root } from './consumer.js';

let consumer: Consumer;
let entries: readonly string[];
beforeAll(() => {
  consumer = new Consumer();
  const others = ['archive', 'graph', 'profile', 'tracedb', 'ui'].map((name) => manifestIn(consumer.install(name)));
  entries = [consumer.manifest, ...others].flatMap(codeEntries);
  for (const name of ['@types/node', 'undici-types', '@opentelemetry/api']) consumer.link(name);
});
afterAll(() => consumer?.dispose());

const USE = `
  const root = Span.root('GET /query', SpanContext.random());
  const done: Promise<void> = root.run(async () => { using parse = LocalSpan.start('parse'); void parse; });
  const f: (x: string) => number = traced('length', (x: string) => x.length);
  void done; void f;
`;

function typeErrors(name: string, options: Record<string, unknown>, extension: string): string {
  const imports = entries.map((entry, i) => `import * as e${i} from '${entry}'; void e${i};`);
  const core = `import { LocalSpan, Span, SpanContext, traced } from 'spanline';`;
  consumer.write(`${name}/use.${extension}`, [core, ...imports, USE].join('\n'));
  const compilerOptions = {
    target: 'es2022',
    lib: ['es2023', 'esnext.disposable', 'esnext.decorators'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    types: ['node'],
    typeRoots: ['../node_modules/@types'],
    ...options,
  };
  const project = consumer.write(`${name}/tsconfig.json`, JSON.stringify({ compilerOptions, include: ['use.*'] }));
  const { code, stdout } = consumer.node([
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    project,
    '--pretty',
    'false',
  ]);
  return code === 0 ? '' : stdout;
}

describe('declarations', () => {
  test.each([
    ['esm', { module: 'nodenext', moduleResolution: 'nodenext' }, 'mts'],
    ['commonjs', { module: 'node16', moduleResolution: 'node16' }, 'cts'],
    ['bundler', { module: 'esnext', moduleResolution: 'bundler' }, 'ts'],
  ])('compile for %s', (name, options, extension) => {
    expect(typeErrors(name, options, extension)).toBe('');
  });
});
