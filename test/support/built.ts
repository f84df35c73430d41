// What test files need around the built packages: the checkout, a build that is up to date, a directory of their own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Have all packages built before the tests of a file. */
export const buildFirst = (): void => {
  beforeAll(() => {
    const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--no-types'], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`the build failed:\n${stderr}`);
  }, 300_000);
};

/** A directory for the tests of a file, gone when they are over. */
export const scratch = (): string => {
  const path = mkdtempSync(join(tmpdir(), 'spanline-test-'));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
