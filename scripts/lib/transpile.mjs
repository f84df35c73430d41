// Turns a folder of TypeScript programs into JavaScript, file for file, for Node to run: decorators and `using` included.
// Must not bundle: `spanline` stays the built package that a user gets.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';

/** Write `from`/**.ts to `to`/**.js (both relative to the root). */
export async function transpile(from, to) {
  const { build } = await import('esbuild');
  const entryPoints = readdirSync(join(root, from), { recursive: true })
    .map(String)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(root, from, file));
  await build({
    entryPoints,
    outbase: join(root, from),
    outdir: join(root, to),
    platform: 'node',
    target: 'node20.19',
    format: 'esm',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}
