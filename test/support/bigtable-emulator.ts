// Google's Bigtable emulator for tests, one for the whole run. Other files use it too, so each test has a table of its own. Without an
// emulator the tests are skipped, but never in CI: there a store that was not tested is a failure.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { findEmulator, HOW_TO_GET } from '../../scripts/lib/bigtable-emulator.mjs';
import { isCI } from './is-ci.js';
import { shared } from './shared.js';

/** An emulator while the tests of a file run. */
export interface TestEmulator {
  /** `address:port`. */
  readonly host: string;
  /** A location of a table that no one used before. */
  location(): string;
}

/** Names of tables in this file begin so: other files, and other runs, may use the same emulator. */
const TABLES = `t-${randomBytes(6).toString('hex')}`;
let tables = 0;

/** A `describe` whose tests have an emulator; BIGTABLE_EMULATOR_HOST is set while they run, for child processes too. */
export const describeBigtable = (name: string, body: (emulator: TestEmulator) => void): void => {
  if (findEmulator() === undefined) {
    if (isCI) {
      test(name, () => {
        throw new Error(HOW_TO_GET);
      });
      return;
    }
    console.warn(`skipped: ${name}. ${HOW_TO_GET}`);
    describe.skip(name, () => body({ host: '', location: () => '' }));
    return;
  }
  describe(name, () => {
    let host = '';
    const before = process.env.BIGTABLE_EMULATOR_HOST;
    beforeAll(async () => {
      host = (await shared('emulator')).host;
      process.env.BIGTABLE_EMULATOR_HOST = host;
    });
    afterAll(() => {
      if (before === undefined) delete process.env.BIGTABLE_EMULATOR_HOST;
      else process.env.BIGTABLE_EMULATOR_HOST = before;
    });
    body({
      get host() {
        return host;
      },
      location: () => `bigtable://test-project/test-instance/${TABLES}-${++tables}`,
    });
  });
};
