// Emits the type declarations that the entries of every package lead to, once: into its dist/cjs. Those of the ES modules re-export them, so that an
// object of one half fits where the other half's is asked for. Nothing may be left that no user can meet.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { inPackage, packages, typedEntries } from './packages.mjs';
import { COMPILER, root, runQuietly } from './run.mjs';
import { visibleDeclarations } from './visible-declarations.mjs';

const at = (path) => join(root, path);

function removeDeclarations(dir) {
  for (const name of readdirSync(dir, { recursive: true })) if (name.endsWith('.d.ts')) rmSync(join(dir, name));
}

function place(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** `all` holds the declarations of all packages, by their folders. */
async function placeDeclarations(one, all) {
  const [from, esm, cjs] = [join(all, one.folder, 'src'), inPackage(one, 'dist/esm'), inPackage(one, 'dist/cjs')];
  for (const dir of [esm, cjs]) removeDeclarations(dir);
  const names = typedEntries(one);
  const files = names.map((name) => join(from, `${name}.d.ts`));
  for (const [file, text] of await visibleDeclarations(files, [at('node_modules/@types')])) {
    place(join(cjs, relative(from, file)), text);
  }
  for (const name of names) {
    const target = relative(dirname(join(esm, name)), join(cjs, name));
    place(join(esm, `${name}.d.ts`), `export * from '${target}.js';\n`);
  }
}

export async function emitDeclarations() {
  const all = at('.tmp/types');
  rmSync(all, { recursive: true, force: true });
  runQuietly(process.execPath, [COMPILER, '-p', 'tsconfig.build.json', '--stripInternal', '--outDir', all]);
  for (const one of packages) await placeDeclarations(one, all);
}
