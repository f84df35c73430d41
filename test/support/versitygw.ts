// A real server of S3's protocol for a test file: one process on a free loopback port, with empty buckets, gone when the file's tests are over. Without one,
// and without Go to build it, the tests are skipped, and a line says so; but never in CI.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { findVersitygw, HOW_TO_GET, type RunningVersitygw, startVersitygw } from '../../scripts/lib/versitygw.mjs';
import { provided } from './built-with-go.js';
import { isCI } from './is-ci.js';

export type { RunningVersitygw } from '../../scripts/lib/versitygw.mjs';

const { program, reason } = await provided({
  name: 'versitygw',
  script: 'build-versitygw.mjs',
  howToGet: HOW_TO_GET,
  find: findVersitygw,
});

/** A `describe` whose tests share a server with some buckets; `server()` is for inside of them. */
export const describeBucket = (
  name: string,
  body: (server: () => RunningVersitygw) => void,
  buckets: readonly string[] = ['traces'],
): void => {
  let running: RunningVersitygw | undefined;
  const server = (): RunningVersitygw => {
    if (running === undefined) throw new Error('versitygw runs only inside of tests');
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
    describe.skip(name, () => body(server));
    return;
  }
  describe(name, () => {
    beforeAll(async () => {
      running = await startVersitygw(program, buckets);
    });
    afterAll(async () => {
      await running?.stop();
    });
    body(server);
  });
};
