// The entries of all packages that the docs describe: without what is for siblings alone.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface Entry {
  /** As programs import it. */
  readonly name: string;
  /** Its source, from the root. */
  readonly file: string;
}

const FOLDERS = ['', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/`)];

export const entries: readonly Entry[] = FOLDERS.flatMap((folder) => {
  const { name, exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    name: string;
    exports: Record<string, unknown>;
  };
  const paths = Object.keys(exports).filter((path) => !/^\.\/(package\.json|.*\binternal\b.*)$/.test(path));
  return paths.map((path) => {
    const files = [join(path, 'index.ts'), `${path}.ts`].map((file) => join(folder, 'src', file));
    return { name: join(name, path), file: files.find((file) => existsSync(join(root, file))) ?? files[0] };
  });
});
