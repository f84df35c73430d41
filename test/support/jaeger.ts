// A real Jaeger 2 for a test file: one process on free loopback ports, empty, gone when the file's tests are over. Where there is none yet
// it is built first, once a machine, with Go, but not for the quick suite, which may not take minutes. Without both the tests are skipped, but
// never in CI.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { hasGo } from '../../scripts/lib/build-jaeger.mjs';
import { findJaeger, HOW_TO_GET, type RunningJaeger, startJaeger } from '../../scripts/lib/jaeger.mjs';
import { root } from './child.js';
import { isCI } from './is-ci.js';
import { suite } from './samples.js';

const building = async (): Promise<string> => {
  const script = join(root, 'scripts/build-jaeger.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script], { maxBuffer: 1 << 26 });
  return stdout.trim();
};

/** The program, or why there is none. */
const provided = async (): Promise<{ readonly program?: string; readonly reason: string }> => {
  const reason = HOW_TO_GET;
  try {
    const program = findJaeger();
    if (program !== undefined) return { program, reason };
    const mayBuild = (isCI || suite !== 'quick') && hasGo();
    return mayBuild ? { program: await building(), reason } : { reason };
  } catch (error) {
    return { reason: `Jaeger could not be had: ${(error as Error).message}` };
  }
};

const { program, reason } = await provided();

/** A `describe` whose tests share a Jaeger; `jaeger()` is for inside of them. */
export const describeJaeger = (name: string, body: (jaeger: () => RunningJaeger) => void): void => {
  let running: RunningJaeger | undefined;
  const jaeger = (): RunningJaeger => {
    if (running === undefined) throw new Error('Jaeger runs only inside of tests');
    return running;
  };
  if (program === undefined) {
    if (isCI) {
      test(name, () => {
        throw new Error(reason);
      });
      return;
    }
    console.warn(`skipped: ${name}: ${reason}`);
    describe.skip(name, () => body(jaeger));
    return;
  }
  describe(name, () => {
    beforeAll(async () => {
      running = await startJaeger(program);
    });
    afterAll(async () => {
      await running?.stop();
    });
    body(jaeger);
  });
};
