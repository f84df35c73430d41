// A vitest reporter that names every test that failed and passed on a later try: printed at the end of the run and appended, as JSON lines, to
// the file that SPANLINE_SECOND_TRIES names. A retry that nobody hears of hides a defect, so nothing here may shorten the list.
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';

const firstLine = (text) => String(text).split('\n', 1)[0];

export default class SecondTryReporter {
  #found = [];

  onTestCaseResult(test) {
    const { flaky = false, retryCount = 0 } = test.diagnostic() ?? {};
    if (!flaky) return;
    this.#found.push({
      test: `${relative(process.cwd(), test.module.moduleId)} > ${test.fullName}`,
      tries: retryCount + 1,
      errors: (test.result().errors ?? []).map(({ message }) => firstLine(message)),
    });
  }

  onTestRunEnd() {
    for (const { test, tries, errors } of this.#found) {
      console.log(`passed on try ${tries}: ${test}`);
      for (const error of errors) console.log(`  failed before: ${error}`);
    }
    const file = process.env.SPANLINE_SECOND_TRIES;
    if (file) for (const found of this.#found) appendFileSync(file, `${JSON.stringify(found)}\n`);
  }
}
