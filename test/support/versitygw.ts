// A real server of S3's protocol for a test file: one process on a free loopback port, with empty buckets, gone when the file's tests are over. Without one,
// and without Go to build it, the tests are skipped, and a line says so; but never in CI.
import { findVersitygw, HOW_TO_GET, type RunningVersitygw, startVersitygw } from '../../scripts/lib/versitygw.mjs';
import { describeServer, provided } from './built-with-go.js';

export type { RunningVersitygw } from '../../scripts/lib/versitygw.mjs';

const versitygw = await provided({
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
): void => describeServer(name, versitygw, (program) => startVersitygw(program, buckets), body);
