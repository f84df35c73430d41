// The ```ts examples of README.md, of docs/ and of the doc comments; those of doc comments may leave out the imports from this package.
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'esbuild';
import { beforeAll } from 'vitest';
import { sourceFiles } from '../../support/sources.js';
import { entries } from './entries.js';

export const root = fileURLToPath(new URL('../../../', import.meta.url));
export interface Example {
  readonly name: string;
  readonly code: string;
  readonly isRun: boolean;
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`),
  ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`),
].filter((name) => name.endsWith('.md'));

/** Throws for a word behind `ts` that is none of ours: its block would go unchecked. */
export const examplesIn = (page: string, text: string): Example[] =>
  [...text.matchAll(/^```(?:ts|typescript)\b([^\n]*)\n(.*?)^```$/gms)].map(([, words, code], i) => {
    if (!['', ' no-run'].includes(words)) throw new Error(`${page}: what is a block of "ts${words}"?`);
    return { name: `${page.replace(/[^a-z]+/gi, '-')}-${i + 1}`, code, isRun: words === '' };
  });

export const examplesOf = (page: string): Example[] => examplesIn(page, readFileSync(join(root, page), 'utf8'));

/** The modules behind the entry points of the package. */
const ROOMS = [
  'clock',
  'rows',
  'local-span',
  'span',
  'collector',
  'record',
  'exporters',
  'otel',
  'flight-recorder',
  'instrument',
  'testing',
];
const sources = sourceFiles.filter(
  (file) => file.endsWith('.ts') && (file.startsWith('packages/') || ROOMS.includes(file.split('/')[1])),
);

/** What doc comments may name without an import, and from where. */
const importable = new Map<string, string>();

const importsFor = (code: string): string =>
  // One that imports for itself is whole, and may use any of these names for its own.
  /^import .* from '@?spanline/m.test(code)
    ? ''
    : [...importable]
        .filter(([name]) => new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`import .*\\b${name}\\b`).test(code))
        .map(([name, entry]) => `import { ${name} } from '${entry}'\n`)
        .join('');

const EXAMPLE = / \* @example\n(.*?)(?=^ *\* @|^ *\*\/)/gms;

const docstringExamplesOf = (file: string): Example[] =>
  [...readFileSync(join(root, file), 'utf8').matchAll(EXAMPLE)].flatMap(([, body], i) => {
    const text = body.replace(/^ *\* ?/gm, '').replaceAll('\\@', '@');
    const found = examplesIn(file, text);
    if (found.length === 0) throw new Error(`${file}: an @example without a block of ts`);
    return found.map((one) => ({ ...one, name: `${one.name}-${i}`, code: importsFor(one.code) + one.code }));
  });

// Without what is loaded for what it does, not for its names.
for (const { name: entry, file } of entries.filter(({ name }) => name !== 'spanline/register')) {
  const module = await import(join(root, file));
  for (const name of Object.keys(module)) {
    // Of two entries with one name the first is meant: an example for the other imports it.
    if (!importable.has(name)) importable.set(name, entry);
  }
}

export const examples = [...pages.flatMap(examplesOf), ...sources.flatMap(docstringExamplesOf)];

/** Writes all examples into a folder of their own, which is given. */
export const writeExamples = (name: string): string => {
  // Inside the checkout, so that `spanline` is the package itself.
  const out = join(root, `.tmp/${name}-${process.versions.modules}`);
  beforeAll(() => {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(out, { recursive: true });
    // Examples may read the data that comes with the package's sources.
    symlinkSync(join(root, 'examples'), join(out, 'examples'));
    for (const { name, code } of examples) {
      writeFileSync(join(out, `${name}.ts`), `${code}\nexport {}\n`);
      const { code: js } = transformSync(code, { loader: 'ts', target: 'node20.19', format: 'esm' });
      writeFileSync(join(out, `${name}.js`), js);
    }
  });
  return out;
};
