// How the tests run: the TypeScript sources as they are, with the decorators that a file's name asks for.
// Must not hide a slow test: time limits are generous because two cores are shared, not because tests may wait.
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Decorators and `using` that Node 20 does not know; `*.legacy-decorators.*` gets TypeScript's older decorators. */
const lowerSyntax: Plugin = {
  name: 'lower-syntax',
  enforce: 'pre',
  async transform(code, id) {
    const file = id.split('?')[0];
    if (!file.endsWith('.ts') || file.includes('/node_modules/')) return null;
    const experimentalDecorators = file.includes('.legacy-decorators.');
    const result = await transform(code, {
      loader: 'ts',
      target: 'node20.19',
      sourcefile: file,
      sourcemap: true,
      // A decorated class that names itself becomes `_Store` otherwise, and so would its spans.
      keepNames: experimentalDecorators,
      tsconfigRaw: { compilerOptions: { experimentalDecorators, verbatimModuleSyntax: true } },
    });
    return { code: result.code, map: result.map };
  },
};

const sourceFolder = (folder: string): string => fileURLToPath(new URL(`./${folder}/`, import.meta.url));

/** A package of the workspace is its sources, whoever imports it by name: in a test there is one core. */
const packagesAsSources: Plugin = {
  name: 'packages-as-sources',
  enforce: 'pre',
  resolveId(id) {
    const [, name, entry] = /^(?:@spanline\/([\w-]+)|spanline)(?:\/(.+))?$/.exec(id) ?? [id];
    if (entry === undefined && name === undefined && id !== 'spanline') return null;
    const folder = sourceFolder(name === undefined ? 'src' : `packages/${name}/src`);
    const files = entry === undefined ? ['index.ts'] : [`${entry}.ts`, `${entry}/index.ts`];
    return files.map((file) => join(folder, file)).find((file) => existsSync(file)) ?? null;
  },
};

/** With SPANLINE_OTEL=3 tests of `spanline/otel` meet OpenTelemetry's API 1.10 and SDK 3 in place of those that the root installs. */
const otel3 = async (): Promise<Readonly<Record<string, string>>> => {
  const folder = fileURLToPath(new URL('./test/otel/sdk-3/', import.meta.url));
  const { ensureInstalled } = await import('./scripts/lib/install.mjs');
  ensureInstalled(folder, 'SDK 3 of OpenTelemetry');
  const library = (name: string): string => join(folder, 'node_modules/@opentelemetry', name);
  return {
    '@opentelemetry/api': library('api'),
    '@opentelemetry/sdk-metrics': library('sdk-metrics'),
    '@opentelemetry/sdk-trace-base': join(folder, 'sdk-trace-base.mjs'),
  };
};

/**
 * With SPANLINE_TEST_BUILT=cjs or esm tests import the built entries in place of the sources, as test/package/built-files.full.test.ts asks. What
 * is no entry is not found: two cores in one test would prove nothing.
 */
const { SPANLINE_TEST_BUILT } = process.env;
const built = [
  {
    find: /^(?:\.\.\/)+src\/(.*\.js)$/,
    replacement: fileURLToPath(new URL(`./dist/${SPANLINE_TEST_BUILT}/$1`, import.meta.url)),
  },
];
const BUILT_FILES = /\/dist\/(?:cjs|esm)\//;

const aliases = async (): Promise<typeof built | Readonly<Record<string, string>>> => {
  if (SPANLINE_TEST_BUILT !== undefined) return built;
  return process.env.SPANLINE_OTEL === '3' ? await otel3() : {};
};

const NEEDS_WHAT_GO_BUILDS = /^import .*\/(support\/jaeger|support\/versitygw|ferretdb|kafka|built-with-go)\.js';$/m;

/** The longest of the full suite. At its end a worker would be left alone with one. Each has a worker of its own. */
const LONGEST = [
  'test/examples/demo.full.test.ts',
  'test/docs/docs-examples.process.test.ts',
  'packages/archive/test/worker.full.test.ts',
  'packages/tracedb/test/gold/bigtable.full.test.ts',
  'packages/tracedb/test/perf/bigtable.full.test.ts',
  'packages/ui/test/trace.full.test.ts',
];

/**
 * The longest files come first. Those that wait for a program which CI begins to build as it starts come last: until then a worker would stand
 * still.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLate = ({ moduleId }: TestSpecification): boolean =>
      NEEDS_WHAT_GO_BUILDS.test(readFileSync(moduleId, 'utf8'));
    const isLong = ({ moduleId }: TestSpecification): boolean => LONGEST.some((name) => moduleId.endsWith(name));
    const rankOf = (one: TestSpecification): number => (isLong(one) ? 0 : isLate(one) ? 2 : 1);
    return sorted.sort((a, b) => rankOf(a) - rankOf(b));
  }
}

// What runs the tests, where that is another Node than the one that runs vitest (scripts/test-arm64.mjs).
process.execPath = process.env.SPANLINE_TEST_NODE ?? process.execPath;

/** The suite that runs: `quick` (npm test), `full` (npm run test:full) or `nightly` (npm run test:nightly), each with all of the one before. */
const suite = process.env.SPANLINE_TESTS ?? 'quick';

/** Random order of files and tests, from the seed that scripts/flaky.mjs sets. */
const { SPANLINE_SHUFFLE } = process.env;

/** Tests of the core and those across packages; those of each other package. */
const TESTS = '{test,packages/*/test}/**';
const ending = (name: string): string => `${TESTS}/*.${name}.test.ts`;

/** Folders whose full files share workers too: to start one and to load modules costs a second and a half. */
const SHARING = 'packages/!(profile)/test';

/** Tests that change what a worker has once: modules that are patched, mocked or loaded again, signals, limits, frames, what is said once. */
const OWN_WORKER = [
  'test/instrument/**/*.process.test.ts',
  'packages/profile/test/**/*.process.test.ts',
  'packages/archive/test/wal/refused-write.process.test.ts',
  'packages/archive/test/worker.process.test.ts',
  'test/clock/js-clock.process.test.ts',
  'test/context/frame-store.process.test.ts',
  'test/flight-recorder/recover-living.process.test.ts',
  'test/flight-recorder/tail/tail.process.test.ts',
  // It counts what runs, which is more where other files have switched something on.
  'test/integration/span-way.process.test.ts',
  'test/span/wrong-arguments.process.test.ts',
];
const own = [...OWN_WORKER];
const shared = [ending('process')];
if (suite !== 'quick') {
  // These patch libraries, load modules again and take profiles of a worker.
  const folders = ['test', 'packages/profile/test'];
  own.push(...folders.map((folder) => `${folder}/**/*.full.test.ts`), ...LONGEST);
  shared.push(`${SHARING}/**/*.full.test.ts`);
}
if (suite === 'nightly') own.push(ending('nightly'));

export default defineConfig({
  plugins: [packagesAsSources, lowerSyntax],
  // What that has made needs no second pass.
  oxc: false,
  resolve: { alias: await aliases() },
  test: {
    pool: 'forks',
    // Not one less: most tests wait for a process or a disk half of their time. One more gains nothing, and takes cores from what is timed.
    maxWorkers: availableParallelism(),
    execArgv: ['--expose-gc'],
    sequence:
      SPANLINE_SHUFFLE === undefined
        ? { sequencer: LongestFirst }
        : { shuffle: { files: true, tests: true }, seed: Number(SPANLINE_SHUFFLE) },
    // The next line of Node takes what this one has compiled.
    experimental: { fsModuleCache: SPANLINE_TEST_BUILT === undefined },
    server: { deps: { external: [BUILT_FILES] } },
    // At night samples are ten to fifty times as large.
    testTimeout: suite === 'nightly' ? 900_000 : 120_000,
    hookTimeout: 240_000,
    // Instead of a second, which is soon over on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    globalSetup: ['test/support/global-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: [`${TESTS}/*.test.ts`],
          exclude: [ending('process'), ending('full'), ending('nightly'), '**/node_modules/**'],
          // Files share a worker and its modules, so each must leave nothing behind.
          isolate: false,
          setupFiles: ['test/support/leaves-nothing.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'process',
          include: shared,
          exclude: [...own, '**/node_modules/**'],
          // To start a worker and to load modules is half of what such a file costs.
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'own',
          include: own,
          exclude: ['**/node_modules/**'],
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
