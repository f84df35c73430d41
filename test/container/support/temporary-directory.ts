// A directory of its own for each test file, gone when its tests are over.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-graph-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
