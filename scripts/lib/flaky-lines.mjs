// The closing lines of CI about what failed and passed on a later try, made of the JSON lines that second-try-reporter.mjs and bench/gate.mjs
// append. A process that was killed leaves a torn line, which must be told too, and must never end CI.

/**
 * @param {string} text What was appended.
 * @param {string} title The check in which it was.
 */
export function flakyLines(text, title) {
  return text
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => {
      try {
        const { test, tries, errors } = JSON.parse(line);
        return [`flaky, passed on try ${tries}: ${test} (${title})`, ...errors.map((one) => `  failed before: ${one}`)];
      } catch {
        return [`flaky, and its report is torn (${title}): ${line}`];
      }
    });
}
