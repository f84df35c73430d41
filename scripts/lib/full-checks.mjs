// What `npm run test:full` runs, and CI with it: every test on one line of Node, on the others what depends on Node, and one under arm64. For
// `npm run test:nightly` the same with whole samples and both lines under arm64.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nodeOf } from './nodes.mjs';
import { root } from './run.mjs';

const script = (name) => join(root, 'scripts', name);
/** Of tests of the core, and of whole packages. */
const folders = (...names) => names.map((name) => (name.startsWith('packages/') ? `${name}/test/` : `test/${name}/`));

/** What depends on the line of Node: its context, clock, profiler and package, and its libraries that are traced. */
const OF_NODE = folders('clock', 'context', 'instrument', 'otel', 'package', 'packages/profile', 'register');
/** What depends on frames, which Node has from 24 on. */
const RECORDING = folders('rows', 'local-span', 'span', 'collector', 'flight-recorder');
/** Files of these folders that are too slow for `npm test` and depend on the line of Node all the same. */
const SLOW_OF_NODE = new Set([
  'test/flight-recorder/heap-allocation.full.test.ts',
  'test/instrument/http/leaks.full.test.ts',
  'test/rows/retained-values.full.test.ts',
  'test/package/entries.full.test.ts',
  'packages/profile/test/attribute.full.test.ts',
  'packages/profile/test/auto-continuations.full.test.ts',
  'packages/profile/test/continuous-profiler.full.test.ts',
  'packages/profile/test/join/cpu-reporter.full.test.ts',
]);

/** The files of such folders that another line of Node runs: those of `npm test`, and the slow ones that depend on it. */
const filesOf = (names) =>
  names.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
      .map((file) => `${name}${file.replaceAll('\\', '/')}`)
      .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules/'))
      .filter((file) => !/\.(?:full|nightly)\.test\.ts$/.test(file) || SLOW_OF_NODE.has(file)),
  );

/** On the emulated arm64: the clock, recording and the package. */
const ARM64 = [
  'test/clock/sources',
  'test/clock/native-clock',
  'test/local-span/parentage',
  'test/local-span/across-await',
  'test/span/run.test',
  'test/span/enter',
  'test/package/surroundings',
];
const QEMU = '/usr/bin/qemu-aarch64-static';

/** Add all of them to `checks`; `suite` is `full` or `nightly`. */
export function addFullChecks(checks, suite = 'full') {
  const test = (title, major, args, env) => checks.tests(title, nodeOf(major), [script('test.mjs'), ...args], env);
  test('every test', process.versions.node.split('.')[0], ['--suite', suite]);
  if (`${process.platform}-${process.arch}` !== 'linux-x64') {
    return console.log('skipped: other lines of Node, whose packages are for linux-x64');
  }
  const small = { SPANLINE_TESTS: 'full', SPANLINE_SAMPLES: 'quick', SPANLINE_BROWSER: 'off' };
  test('Node 24: its own parts and recording', 24, filesOf([...OF_NODE, ...RECORDING]), small);
  test("Node 24: OpenTelemetry's API 1.10 and SDK 3", 24, ['test/otel/'], { SPANLINE_OTEL: '3' });
  test('Node 24: recording without frames', 24, [...RECORDING, 'test/context/'], { SPANLINE_CONTEXT: 'als' });
  const asked = { NODE_OPTIONS: '--experimental-async-context-frame' };
  test('Node 22: recording by frames', 22, [...RECORDING, 'test/context/'], asked);
  for (const major of [22, 26]) test(`Node ${major}: its own parts`, major, filesOf(OF_NODE), small);
  if (!process.env.CI && !existsSync(QEMU)) {
    return console.log(`skipped: arm64, for there is no ${QEMU} (Debian: qemu-user-static, g++-aarch64-linux-gnu)`);
  }
  for (const major of suite === 'nightly' ? [20, 24] : [24]) {
    const arm64 = [script('test-arm64.mjs'), String(major), ...ARM64];
    const title = `Node ${major} on arm64: clock, recording and package`;
    checks.tests(title, process.execPath, arm64, { SPANLINE_TESTS: 'full' });
  }
}
