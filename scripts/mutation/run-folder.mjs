// Tries the sampled mutants of one group of folders; writes what became of each to a file. A process of its own, since Stryker prints and
// keeps state: node scripts/mutation/run-folder.mjs '{"folders": [...], ...}' RESULT.json
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { failWith, root } from '../lib/run.mjs';
import { mutantsOf, sampleOf } from './mutants.mjs';
import { placeOf } from './place.mjs';
import { testFilesFor } from './test-files.mjs';

const OUT = '.tmp/mutation';
/** What the tests need of the repository: they run on a copy of it. */
const COPIED = ['/src', '/packages', '/test', '/native', '/scripts'];

/** The options of Stryker: these mutants, these tests. */
function optionsFor(mutants, testFiles, concurrency) {
  return {
    // Columns and lines from 0 in a mutant; lines from 1 in a range.
    mutate: mutants.map(
      ({ file, location: { start, end } }) => `${file}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`,
    ),
    testFiles,
    plugins: [join(root, 'scripts/mutation/stryker-plugin.mjs')],
    testRunner: 'vitest-forks',
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    ignorePatterns: ['/*', ...COPIED.map((folder) => `!${folder}`), '!/package.json', '!/*.ts', '!/tsconfig*.json'],
    disableTypeChecks: false,
    tempDirName: OUT,
    cleanTempDir: 'always',
    concurrency,
    // Beyond three times what the tests took without a mutant.
    timeoutMS: 30_000,
    timeoutFactor: 3,
    dryRunTimeoutMinutes: 60,
    reporters: ['progress-append-only'],
    logLevel: 'info',
    warnings: { unknownOptions: false, slow: false },
    allowConsoleColors: false,
  };
}

async function runFolder({ folders, near, size, seed, concurrency, names }, result) {
  const files = folders.flatMap((folder) => filesOf(folder));
  const all = await mutantsOf(files);
  const chosen = names === undefined ? sampleOf(all, size, seed) : chooseBy(all, names);
  const tests = testFilesFor(files, folders, near);
  mkdirSync(join(root, OUT), { recursive: true });
  process.env.SPANLINE_MUTATED_ROOT = root;
  process.env.SPANLINE_MUTATED = folders.join(',');
  process.env.SPANLINE_MUTANTS = `${result}.places`;
  writeFileSync(process.env.SPANLINE_MUTANTS, JSON.stringify(chosen.map(placeOf)));
  const start = performance.now();
  const results = await new Stryker(optionsFor(chosen, tests.run, concurrency)).runMutationTest();
  const seconds = Math.round((performance.now() - start) / 1000);
  writeFileSync(result, JSON.stringify({ mutants: all.length, tests, seconds, tried: outcomes(chosen, results) }));
}

const filesOf = (folder) =>
  readdirSync(join(root, folder), { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(root, folder, name))
    .sort();

function chooseBy(mutants, names) {
  const wanted = new Set(names);
  return mutants.filter(({ name }) => wanted.has(name));
}

/** What became of each chosen mutant. Results count lines and columns from 1. */
function outcomes(chosen, results) {
  const before = ({ line, column }) => ({ line: line - 1, column: column - 1 });
  const byPlace = new Map(
    results.map((one) => [
      placeOf({
        ...one,
        file: relative(root, one.fileName),
        location: { start: before(one.location.start), end: before(one.location.end) },
      }),
      one,
    ]),
  );
  return chosen.map(({ file, location, mutatorName, original, replacement, name }) => {
    const found = byPlace.get(placeOf({ file, location, mutatorName, replacement }));
    if (found === undefined) throw new Error(`Stryker did not try ${name}`);
    const { status, statusReason, static: isStatic, coveredBy, killedBy } = found;
    return {
      name,
      file,
      line: location.start.line + 1,
      column: location.start.column + 1,
      mutator: mutatorName,
      original,
      replacement,
      status,
      ...(statusReason && { reason: statusReason.slice(0, 300) }),
      ...(isStatic && { static: true }),
      coveredBy: coveredBy?.length ?? 0,
      ...(killedBy?.length && { killedBy: killedBy[0] }),
    };
  });
}

const [task, result] = process.argv.slice(2);
process.chdir(root);
await runFolder(JSON.parse(task), result).catch(failWith);
