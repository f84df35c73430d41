// What failed in the JSON report of a run of vitest: read here for CI's last lines and for flaky.mjs.
import { relative } from 'node:path';
import { root } from './run.mjs';

/** The failed tests of one file of the report, each with the first line of its error; the file itself where it does not load. */
export function failuresOf({ name, status, message, assertionResults }) {
  const file = relative(root, name);
  const failed = assertionResults.filter((one) => one.status === 'failed');
  if (failed.length === 0) return status === 'failed' ? [{ test: file, error: message.split('\n', 1)[0] }] : [];
  return failed.map(({ fullName, failureMessages }) => ({
    test: `${file} > ${fullName}`,
    error: firstLine(failureMessages),
  }));
}

// The stack of vitest's error for a test that does not end has another message than the error.
const firstLine = (messages) =>
  messages
    .join('\n')
    .split('\n', 1)[0]
    .replace(/^Error: STACK_TRACE_ERROR$/, 'Error: it did not end in time (testTimeout of vitest.config.ts)');
