// Emits the type declarations that entries lead to, once: into dist/cjs. Those of the ES modules re-export them, so that an object of one half
// fits where the other half's is asked for. Nothing may be left that no user can meet.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { COMPILER, root, runQuietly } from './run.mjs';
import { visibleDeclarations } from './visible-declarations.mjs';

const at = (path) => join(root, path);

/** Output names of the entries that package.json gives types for: `index`, `archive/index`, ... */
function entries() {
  const { exports } = JSON.parse(readFileSync(at('package.json'), 'utf8'));
  return Object.values(exports)
    .filter((target) => typeof target === 'object')
    .map(({ require }) => require.types.replace(/^\.\/dist\/cjs\/(.*)\.d\.ts$/, '$1'));
}

function removeDeclarations(dir) {
  for (const name of readdirSync(dir, { recursive: true })) if (name.endsWith('.d.ts')) rmSync(join(dir, name));
}

function place(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

export async function emitDeclarations() {
  const [all, esm, cjs] = [at('.tmp/types'), at('dist/esm'), at('dist/cjs')];
  rmSync(all, { recursive: true, force: true });
  runQuietly(process.execPath, [COMPILER, '-p', 'tsconfig.build.json', '--stripInternal', '--outDir', all]);
  for (const dir of [esm, cjs]) removeDeclarations(dir);
  const names = entries();
  const files = names.map((name) => join(all, `${name}.d.ts`));
  for (const [file, text] of await visibleDeclarations(files, [at('node_modules/@types')])) {
    place(join(cjs, relative(all, file)), text);
  }
  for (const name of names) {
    const from = relative(dirname(join(esm, name)), join(cjs, name));
    place(join(esm, `${name}.d.ts`), `export * from '${from}.js';\n`);
  }
}
