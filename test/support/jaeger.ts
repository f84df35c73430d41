// A real Jaeger 2 for a test file: one process on free loopback ports, empty, gone when the file's tests are over. Without one, and without Go to
// build it, the tests are skipped, but never in CI.
import { findJaeger, HOW_TO_GET, type RunningJaeger, startJaeger } from '../../scripts/lib/jaeger.mjs';
import { describeServer, provided } from './built-with-go.js';

const jaeger = await provided({
  name: 'Jaeger',
  script: 'build-jaeger.mjs',
  howToGet: HOW_TO_GET,
  find: findJaeger,
});

/** A `describe` whose tests share a Jaeger; `jaeger()` is for inside of them. */
export const describeJaeger = (name: string, body: (jaeger: () => RunningJaeger) => void): void =>
  describeServer(name, jaeger, (program) => startJaeger(program), body);
