// node scripts/flaky.mjs: runs a suite again and again in random order of files and tests, beside a process that keeps a core busy if asked,
// and names what failed and how often. Nothing here may try a failed test again within a run.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { ensureBuilt } from './lib/build.mjs';
import { failWith, root } from './lib/run.mjs';
import { REPORTER } from './lib/test-report.mjs';

const HELP = `node scripts/flaky.mjs [--runs N] [--busy] [--suite quick|full|nightly] [--alone] [--decided] [--seed N] [FILE ...]

Runs tests N times (10 unless given) in random order and prints what failed, in how many runs.

  --busy     beside a process that keeps one core busy
  --suite    npm test (quick, unless given), npm run test:full on this Node, or npm run test:nightly
  --alone    no file beside another
  --decided  the files of test/decided-by-chance.txt: those in which time, chance or a killed process decides
  --seed     the seed of the first run; run i takes SEED + i - 1
  FILE       only these files, as vitest takes them

Exit code: 0 if all runs passed, 1 if one failed, 2 for wrong usage.`;

function options() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      runs: { type: 'string', default: '10' },
      busy: { type: 'boolean', default: false },
      suite: { type: 'string', default: 'quick' },
      alone: { type: 'boolean', default: false },
      decided: { type: 'boolean', default: false },
      seed: { type: 'string', default: String(Date.now() % 1e9) },
      help: { type: 'boolean', default: false },
    },
  });
  const [runs, seed] = [Number(values.runs), Number(values.seed)];
  if (!Number.isInteger(runs) || runs < 1) throw new Error(`--runs is ${values.runs}; it must be an integer from 1`);
  if (!Number.isInteger(seed)) throw new Error(`--seed is ${values.seed}; it must be an integer`);
  const files = values.decided ? [...decidedFiles(), ...positionals] : positionals;
  return { ...values, runs, seed, files };
}

const decidedFiles = () =>
  readFileSync(join(root, 'test/decided-by-chance.txt'), 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter(Boolean);

/** Ends the run that goes on. */
const stopping = new AbortController();

/** One worker, and a new one for each file. */
const ALONE = ['--no-file-parallelism', '--isolate'];

/** One run of vitest: its seconds, and the tests that failed with their first line of error. */
async function runOnce({ suite, files, seed, alone }) {
  const report = join(root, '.tmp/flaky/tests.json');
  rmSync(report, { force: true });
  const start = performance.now();
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { stdout, stderr, code } = await promisify(execFile)(
    process.execPath,
    [vitest, 'run', ...files, ...(alone ? ALONE : []), REPORTER],
    {
      cwd: root,
      env: {
        ...process.env,
        SPANLINE_IS_BUILT: '1',
        SPANLINE_TESTS: suite,
        SPANLINE_SHUFFLE: String(seed),
        SPANLINE_TEST_REPORT: report,
      },
      maxBuffer: 1 << 28,
      signal: stopping.signal,
    },
    // Of a run that fails they stand on the error.
  ).catch((error) => error);
  const seconds = (performance.now() - start) / 1000;
  try {
    const { passed, failures } = JSON.parse(readFileSync(report, 'utf8'));
    // Vitest fails a run of which no test is left, too.
    const empty = code && failures.length === 0 ? [{ test: 'the run itself', error: lastLines(stdout + stderr) }] : [];
    return { seconds, passed, failed: [...failures, ...empty] };
  } catch {
    return { seconds, passed: 0, failed: [{ test: 'the run itself', error: lastLines(stdout + stderr) }] };
  }
}

const lastLines = (text) => text.trimEnd().split('\n').slice(-20).join('\n');

function printTable(failures, runs) {
  const rows = [...failures].sort(([, a], [, b]) => b.length - a.length);
  for (const [test, found] of rows) {
    console.log(`${found.length} of ${runs} failed: ${test} (seeds ${found.map(({ seed }) => seed).join(', ')})`);
    for (const error of new Set(found.map((one) => one.error))) console.log(`    ${error}`);
  }
}

/** Whether all runs passed whole. */
async function repeat(title, asked) {
  const failures = new Map();
  let whole = 0;
  for (let i = 0; i < asked.runs; i++) {
    const seed = asked.seed + i;
    const { seconds, passed, failed } = await runOnce({ ...asked, seed });
    if (failed.length === 0) whole++;
    for (const { test, error } of failed) failures.set(test, [...(failures.get(test) ?? []), { seed, error }]);
    console.log(`run ${i + 1}, seed ${seed}: ${passed} passed, ${failed.length} failed, ${seconds.toFixed(0)} s`);
    for (const { test, error } of failed) console.log(`    ${test}\n        ${error}`);
  }
  console.log(`${whole} of ${asked.runs} runs passed: ${title}`);
  printTable(failures, asked.runs);
  return whole === asked.runs;
}

async function main() {
  const asked = options();
  if (asked.help) return console.log(HELP);
  await ensureBuilt();
  mkdirSync(join(root, '.tmp/flaky'), { recursive: true });
  // Ends with this process, however it ends.
  const loop = 'const { ppid } = process; while (process.ppid === ppid);';
  const busy = asked.busy ? spawn(process.execPath, ['-e', loop], { stdio: 'ignore' }) : undefined;
  process.on('exit', () => {
    stopping.abort();
    busy?.kill('SIGKILL');
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));
  const files = asked.files.length > 8 ? `${asked.files.length} files` : asked.files.join(' ');
  const title = `${files || `the ${asked.suite} suite`}${asked.busy ? ', beside a busy core' : ''}`;
  process.exitCode = (await repeat(title, asked)) ? 0 : 1;
  busy?.kill('SIGKILL');
}

await main().catch((error) => {
  if (error.code?.startsWith('ERR_PARSE_ARGS') || /must be/.test(error.message)) {
    console.error(`${error.message}\n\n${HELP}`);
    process.exit(2);
  }
  failWith(error);
});
