// Google's Bigtable emulator for a test file: a fresh one on a free loopback port, gone when the file's tests are over. Without
// one the tests are skipped, but never in CI: there a store that was not tested is a failure.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { findEmulator, HOW_TO_GET, type RunningEmulator, startEmulator } from '../../scripts/lib/bigtable-emulator.mjs';
import { isCI } from './is-ci.js';

/** An emulator while the tests of a file run. */
export interface TestEmulator {
  /** `address:port`. */
  readonly host: string;
  /** A location of a table that no one used before. */
  location(): string;
  /** Take it away, as a crash of the server would. */
  stop(): Promise<void>;
}

/** A `describe` whose tests have an emulator; BIGTABLE_EMULATOR_HOST is set while they run, for child processes too. */
export const describeBigtable = (name: string, body: (emulator: TestEmulator) => void): void => {
  const program = findEmulator();
  if (program === undefined) {
    if (isCI) {
      test(name, () => {
        throw new Error(HOW_TO_GET);
      });
      return;
    }
    console.warn(`skipped: ${name}. ${HOW_TO_GET}`);
    describe.skip(name, () => body({ host: '', location: () => '', stop: async () => {} }));
    return;
  }
  describe(name, () => {
    let running: RunningEmulator | undefined;
    let tables = 0;
    const before = process.env.BIGTABLE_EMULATOR_HOST;
    beforeAll(async () => {
      running = await startEmulator(program);
      process.env.BIGTABLE_EMULATOR_HOST = running.host;
    });
    afterAll(async () => {
      if (before === undefined) delete process.env.BIGTABLE_EMULATOR_HOST;
      else process.env.BIGTABLE_EMULATOR_HOST = before;
      await running?.stop();
    });
    body({
      get host() {
        return running?.host ?? '';
      },
      location: () => `bigtable://test-project/test-instance/table-${++tables}`,
      stop: async () => running?.stop(),
    });
  });
};
