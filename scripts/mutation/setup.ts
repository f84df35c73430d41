// Set up before each test file. Coverage is told file by file: unit test files share a process, whose counters go on, and without this each file would
// bring those of all before it. And that a mutant makes a property fail is enough: nobody reads the smallest failing case.
import fc from 'fast-check';
import { inject } from 'vitest';

type Counters = Record<string, unknown>;
const { __stryker__ } = globalThis as { __stryker__?: { mutantCoverage?: { static: Counters; perTest: Counters } } };

if ((inject as (name: string) => unknown)('mode') === 'dry-run' && __stryker__?.mutantCoverage !== undefined) {
  for (const counters of [__stryker__.mutantCoverage.static, __stryker__.mutantCoverage.perTest]) {
    for (const name of Object.keys(counters)) delete counters[name];
  }
}

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
