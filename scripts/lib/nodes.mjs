// Finds a Node of another major version, or for another CPU: this one, or the npm package of that version's official binary, installed on
// first use into .tmp/nodes. Must never change the Node on PATH.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runQuietly } from './run.mjs';

/** Where the package of a major version is: its `bin/node` and `include/node`. Installed when it is not there. */
export function nodePackage(major, arch = 'x64') {
  const name = `node-linux-${arch}`;
  const dir = join(root, '.tmp/nodes', arch === 'x64' ? String(major) : `${major}-${arch}`);
  const place = join(dir, 'node_modules', name);
  if (!existsSync(join(place, 'bin/node'))) {
    console.error(`installing Node ${major} for ${arch} into .tmp/nodes ...`);
    mkdirSync(dir, { recursive: true });
    // Its own package.json keeps npm from looking for a project further up.
    writeFileSync(join(dir, 'package.json'), '{ "private": true }\n');
    runQuietly(
      'npm',
      // Forced: npm refuses what this machine cannot run by itself.
      ['install', `${name}@${major}`, '--force', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd: dir,
      },
    );
  }
  return place;
}

/** The path of a `node` of that major version. */
export function nodeOf(major) {
  return String(major) === process.versions.node.split('.')[0]
    ? process.execPath
    : join(nodePackage(major), 'bin/node');
}

/** What runs a program for arm64 here: Debian's qemu-user-static, with the C library that its cross compiler brings. */
const QEMU = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu'];

/** The command that starts a Node of that major version for that CPU. */
export function nodeCommand(major, arch) {
  const node = join(nodePackage(major, arch), 'bin/node');
  return arch === process.arch ? [node] : [...QEMU, node];
}
