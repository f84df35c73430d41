// A reporter of vitest: writes counts of a run and everything that failed to the file that SPANLINE_TEST_REPORT names, for CI's last lines and for
// flaky.mjs. It has what vitest's JSON lacks: errors of hooks, and those outside of tests.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import { root } from './run.mjs';

/** The options of vitest that have it write. */
export const REPORTER = `--reporter=${import.meta.filename}`;

const firstLine = (errors) => {
  const line = errors
    .map(({ message }) => message ?? '')
    .join('\n')
    .trim()
    .split('\n', 1)[0];
  return line || 'no message: its output is above';
};

/** What is wrong with a file, a group of tests or a test itself, beside what is wrong with its parts. */
const faultOf = (test, errors) => (errors.length === 0 ? [] : [{ test, error: firstLine(errors) }]);

function failuresOf(module) {
  const file = relative(root, module.moduleId);
  const named = (part) => `${file} > ${part.fullName}`;
  return [
    ...faultOf(file, module.errors()),
    ...[...module.children.allSuites()].flatMap((suite) => faultOf(named(suite), suite.errors())),
    ...[...module.children.allTests('failed')].flatMap((test) => faultOf(named(test), test.result().errors)),
  ];
}

export default class {
  onTestRunEnd(modules, errors) {
    const count = (state) => modules.reduce((sum, { children }) => sum + [...children.allTests(state)].length, 0);
    const report = {
      passed: count('passed'),
      skipped: count('skipped'),
      failures: [...modules.flatMap(failuresOf), ...faultOf('outside of a test', errors)],
    };
    writeFileSync(process.env.SPANLINE_TEST_REPORT, JSON.stringify(report));
  }
}
