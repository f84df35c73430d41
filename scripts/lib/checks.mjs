// Runs the checks of CI and of `npm run test:full` one after another, goes on after one that failed, and sums up: tests, checks and minutes.
// A check must never be tried twice.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './run.mjs';
import { REPORTER } from './test-report.mjs';

const out = join(root, '.tmp/checks');

/** Run all checks of one command; `finish` prints the sums and sets the exit code. */
export class Checks {
  #passed = 0;
  #failed = 0;
  #skipped = 0;
  #lines = [];
  /** Every test that failed, for the end of a log of thousands of lines. */
  #failures = [];

  /** One check: a command that exits with 0. `env` is added to the environment. */
  check(title, command, args, env = {}) {
    const ok = this.#run(title, command, args, env);
    if (ok) this.#passed++;
    else this.#failed++;
  }

  /** A run of vitest, whose tests are counted one by one. `args` end with those of vitest. */
  tests(title, command, args, env = {}) {
    mkdirSync(out, { recursive: true });
    const file = join(out, 'tests.json');
    rmSync(file, { force: true });
    const reporters = [`--reporter=${process.env.CI ? 'default' : 'dot'}`, REPORTER];
    const ok = this.#run(title, command, [...args, ...reporters], { ...env, SPANLINE_TEST_REPORT: file });
    try {
      const { passed, skipped, failures } = JSON.parse(readFileSync(file, 'utf8'));
      this.#passed += passed;
      this.#failed += failures.length;
      this.#skipped += skipped;
      this.#failures.push(...failures.map((failure) => ({ title, ...failure })));
      // Vitest fails a run of which no test is left, too.
      if (!ok && failures.length === 0) this.#failed++;
    } catch {
      this.#failed++;
    }
  }

  #run(title, command, args, env) {
    console.log(`\n=== ${title}`);
    const start = performance.now();
    const options = { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] };
    const { status, signal } = spawnSync(command, args, options);
    const ok = status === 0;
    const minutes = ((performance.now() - start) / 60_000).toFixed(1).padStart(5);
    this.#lines.push(`${minutes} min  ${ok ? 'ok    ' : 'FAILED'}  ${title}`);
    console.log(`=== ${ok ? 'ok' : `FAILED (${signal ?? `exit code ${status}`})`}: ${title}, ${minutes.trim()} min`);
    return ok;
  }

  /** Print what failed and minutes by check, then the sums on a line of their own; exit with 1 if anything failed or nothing ran. */
  finish() {
    for (const { title, test, error } of this.#failures) console.log(`\nfailed in ${title}: ${test}\n    ${error}`);
    console.log(`\n${this.#lines.join('\n')}`);
    console.log(`${this.#skipped} skipped`);
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    process.exitCode = this.#failed > 0 || this.#passed === 0 ? 1 : 0;
  }
}
