// A directory of its own for each test file, or for the test that asks: gone when that is over.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { getCurrentTest } from 'vitest/suite';

export const temporaryDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'spanline-graph-'));
  const isInTest = getCurrentTest() !== undefined;
  (isInTest ? onTestFinished : afterAll)(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
};
