// A real Jaeger 2 for a test file: one process on free loopback ports, empty, gone when the file's tests are over. Without one, and without Go to
// build it, the tests are skipped, but never in CI.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { findJaeger, HOW_TO_GET, type RunningJaeger, startJaeger } from '../../scripts/lib/jaeger.mjs';
import { provided } from './built-with-go.js';
import { isCI } from './is-ci.js';

const { program, reason } = await provided({
  name: 'Jaeger',
  script: 'build-jaeger.mjs',
  howToGet: HOW_TO_GET,
  find: findJaeger,
});

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
