// Emits the type declarations into both trees of dist. Relative imports end in .js, so one text serves both formats:
// the package.json beside it says which of the two it describes.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { root, runQuietly } from './run.mjs';

export function emitDeclarations() {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  runQuietly(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', 'dist/esm']);
  cpSync(join(root, 'dist/esm'), join(root, 'dist/cjs'), {
    recursive: true,
    filter: (path) => !/\.(js|map|json)$/.test(path) && !path.includes('/cli'),
  });
}
