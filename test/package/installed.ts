// A stranger's folder into which npm installs tarballs that would be published, with all that they ask for, from the registry. Used by the nightly
// tests of packages. It must never see the checkout.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { pack } from '../../scripts/lib/pack.mjs';
import { packages } from '../../scripts/lib/packages.mjs';
import { type Manifest, manifestIn, root } from './consumer.js';

/** Folder of each package -> its manifest, the core first. */
export const manifests: ReadonlyMap<string, Manifest> = new Map(
  packages.map(({ folder }) => [folder, manifestIn(join(root, folder))]),
);

const folderOf = (name: string): string => [...manifests].find(([, one]) => one.name === name)?.[0] as string;

/** The package and those of ours that it cannot do without: their folders. */
export const withSiblings = (folder: string): string[] => {
  const { dependencies = {} } = manifests.get(folder) as Manifest;
  const ours = Object.keys(dependencies).filter((name) => /^(spanline$|@spanline\/)/.test(name));
  return [...new Set(['', folder, ...ours.flatMap((name) => withSiblings(folderOf(name)))])];
};

export const tarballsOf = (folders: readonly string[]): string[] =>
  folders.map((folder) => pack(packages.find((one) => one.folder === folder)).path);

/** A folder for as long as a test runs, with these packages of ours and of others; its files are modules. */
export const install = (folders: readonly string[], others: readonly string[] = []): string => {
  const dir = mkdtempSync(join(tmpdir(), 'spanline-installed-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n');
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...tarballsOf(folders), ...others];
  execFileSync('npm', args, { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] });
  return dir;
};
