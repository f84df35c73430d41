// The source files of all packages of the workspace, for tests of what holds in each.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Folders of sources, from the root: the core's, then those of `packages`. */
export const sourceFolders: readonly string[] = [
  'src',
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/src`),
].filter((folder) => existsSync(join(root, folder)));

/** Every .ts and .tsx file of them, from the root. */
export const sourceFiles: readonly string[] = sourceFolders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`),
);

export const sourceText = (file: string): string => readFileSync(join(root, file), 'utf8');
