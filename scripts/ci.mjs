// .ci/run: lint, types, the tests on the default Node and on newer ones, the package, and the benchmark gate.
// Every test counts as one in the closing line, and so does every other check. Goes on after a failure, to show all. What failed and passed
// on a later try is named as flaky in the closing lines.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { flakyLines } from './lib/flaky-lines.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { nodeOf } from './lib/nodes.mjs';
import { failWith, root } from './lib/run.mjs';

const out = join(root, '.tmp/ci');
const secondTries = join(out, 'second-tries.jsonl');
const totals = { passed: 0, failed: 0, skipped: 0 };
/** Lines that name what passed on a later try, by the check that it was in. */
const triedAgain = [];

function run(title, command, args) {
  console.log(`\n=== ${title}`);
  const start = performance.now();
  const env = { ...process.env, SPANLINE_SECOND_TRIES: secondTries };
  const { status, signal } = spawnSync(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
  collectSecondTries(title);
  const ok = status === 0;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`=== ${ok ? 'ok' : `FAILED (${signal ?? `exit code ${status}`})`}: ${title}, ${seconds} s`);
  return ok;
}

function collectSecondTries(title) {
  if (!existsSync(secondTries)) return;
  triedAgain.push(...flakyLines(readFileSync(secondTries, 'utf8'), title));
  rmSync(secondTries);
}

function check(title, command, args) {
  const ok = run(title, command, args);
  totals[ok ? 'passed' : 'failed']++;
}

const NAMES_SECOND_TRIES = `--reporter=${join(root, 'scripts/lib/second-try-reporter.mjs')}`;
const reportTo = (file) => ['--reporter=default', NAMES_SECOND_TRIES, '--reporter=json', `--outputFile.json=${file}`];

/** The suite whose tests are counted one by one. */
function countedTests(title, command, args) {
  const file = join(out, 'tests.json');
  const ok = run(title, command, [...args, ...reportTo(file)]);
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(file, 'utf8'));
    totals.passed += numPassedTests;
    totals.failed += numFailedTests;
    totals.skipped += numPendingTests;
    // A file that does not load, or an error outside a test, fails the run without a failed test.
    if (!ok && numFailedTests === 0) totals.failed++;
  } catch {
    totals.failed++;
  }
}

const bin = (path) => join(root, 'node_modules', path);
const script = (name) => join(root, 'scripts', name);
const SMOKE = ['package', 'clock', 'context', 'profile', 'instrument', 'otel', 'register'].map(
  (room) => `test/${room}`,
);
/** What takes long, and is enough on two lines of Node. */
const LONG = ['applications', 'longevity'].map((name) => `--exclude=test/register/${name}.test.ts`);
const RECORDING = ['test/local-span', 'test/span/', 'test/collector', 'test/context'];

/** On the emulated arm64: the clock and recording. */
const ARM64 = [
  'test/clock/sources',
  'test/clock/native-clock',
  'test/local-span/parentage',
  'test/local-span/across-await',
  'test/span/run.test',
  'test/span/enter',
];
/** Half of its time, and enough on one line of Node: the same tree of spans, wherever the package is loaded. */
const ARM64_PACKAGE = 'test/package/surroundings';

/** Begins what takes long on a fresh machine; resolves when tests can start, though two programs may still be built for the last of them. */
const provideTools = () =>
  new Promise((resolve) => {
    // What cannot run is a failure with it, instead of being skipped.
    process.env.CI ||= 'true';
    const child = spawn(process.execPath, [script('provide-tools.mjs')], { stdio: ['ignore', 'inherit', 'inherit'] });
    child.on('error', ({ message }) => resolve(console.error(message))).on('exit', resolve);
  });

async function main() {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const tools = provideTools();
  // Beside it, what needs none of them.
  ensureInstalled(root);
  check('lint and format (npm run lint)', process.execPath, [
    bin('@biomejs/biome/bin/biome'),
    'ci',
    '--colors=off',
    '.',
  ]);
  // The types of examples and tests are those of the built package.
  check('build (npm run build)', process.execPath, [script('build.mjs')]);
  check('types (npm run typecheck)', 'npm', ['run', '-s', 'typecheck']);
  await tools;
  // Of what chance decides, on each line of Node another third (test/support/rounds.ts).
  process.env.SPANLINE_ROUNDS = 'third';
  countedTests(`tests on Node ${process.versions.node} (npm test)`, 'npm', ['test', '--']);
  // The page is the same; its server is tested on each.
  process.env.SPANLINE_BROWSER = 'off';
  check('tests on Node 24', nodeOf(24), [script('test.mjs'), '--reporter=dot', NAMES_SECOND_TRIES]);
  process.env.SPANLINE_OTEL = '3';
  check("tests of OpenTelemetry's API 1.10 and SDK 3 on Node 24", nodeOf(24), [
    script('test.mjs'),
    'test/otel',
    '--reporter=dot',
    NAMES_SECOND_TRIES,
  ]);
  delete process.env.SPANLINE_OTEL;
  process.env.SPANLINE_CONTEXT = 'als';
  check('recording tests on Node 24 without frames', nodeOf(24), [
    script('test.mjs'),
    ...RECORDING,
    '--reporter=dot',
    NAMES_SECOND_TRIES,
  ]);
  delete process.env.SPANLINE_CONTEXT;
  for (const major of [22, 26]) {
    check(`tests of Node's own parts on Node ${major}`, nodeOf(major), [
      script('test.mjs'),
      ...SMOKE,
      ...LONG,
      '--reporter=dot',
      NAMES_SECOND_TRIES,
    ]);
  }
  for (const major of [20, 24]) {
    check(`clock${major === 20 ? ', package' : ''} and recording on arm64, Node ${major}`, process.execPath, [
      script('test-arm64.mjs'),
      String(major),
      ...ARM64,
      ...(major === 20 ? [ARM64_PACKAGE] : []),
      '--reporter=dot',
      NAMES_SECOND_TRIES,
    ]);
  }
  check('package (npm run check-package)', process.execPath, [script('check-package.mjs')]);
  check('benchmark gate', process.execPath, [join(root, 'bench/gate.mjs')]);
}

try {
  await main();
} catch (error) {
  failWith(error);
}
const { passed, failed, skipped } = totals;
console.log(`\n${triedAgain.length === 0 ? 'nothing was flaky: no test was tried twice' : triedAgain.join('\n')}`);
console.log(`${skipped} skipped`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
