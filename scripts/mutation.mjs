// npm run test:mutation [-- FOLDER ...]: changes the sources in one place after the other, and counts of how many changes a test of the quick
// suite fails. A fixed sample of mutants for each folder; `--json` prints one JSON object on standard output and nothing else.
import { mkdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureBuilt } from './lib/build.mjs';
import { ensureInstalled } from './lib/install.mjs';
import { failWith, root, runQuietly } from './lib/run.mjs';

const USAGE = `node scripts/mutation.mjs [FOLDER ...] [options]
  --sample N        mutants of each group of folders (default: 300)
  --as FILE.json    the mutants that an earlier run with --json tried, as far as they still are
  --concurrency N   mutants at a time (default: one for each core)
  --json            one JSON object on standard output`;

/**
 * Folders whose mutants are tried, in groups that have one score, and those of whose tests a mutant has to fail one. Of the graph, what reads.
 * The rest of the quick suite would fail on some more, and takes too long to run for each.
 */
const GROUPS = [
  {
    folders: ['src/rows', 'src/local-span', 'src/context'],
    near: [
      'test/context',
      'test/rows',
      'test/local-span',
      'test/span',
      'test/collector',
      'test/record',
      'test/integration',
    ],
  },
  {
    folders: ['src/span'],
    near: ['test/context', 'test/rows', 'test/local-span', 'test/span', 'test/collector', 'test/integration'],
  },
  {
    folders: ['src/collector'],
    near: ['test/rows', 'test/local-span', 'test/span', 'test/collector', 'test/exporters', 'test/integration'],
  },
  { folders: ['packages/archive/src/wal'], near: ['packages/archive/test'] },
  {
    folders: ['packages/graph/src/dictionary', 'packages/graph/src/nodes', 'packages/graph/src/index'],
    near: ['packages/graph/test'],
  },
];
/** Other numbers choose other mutants; the table of CONTRIBUTING.md is of this one. */
const SEED = 20_261_125;
/** Per cent, below which the command fails. */
const MIN_SCORE = 80;

function groupsFor(folders) {
  if (folders.length === 0) return GROUPS;
  return folders.map((folder) => {
    const group = GROUPS.find((one) => one.folders.includes(folder.replace(/\/$/, '')));
    if (group === undefined) throw new Error(`${folder} is none of ${GROUPS.flatMap((one) => one.folders).join(', ')}`);
    return group;
  });
}

/** How many of the tried mutants ended so. An error outside a test, or a process that died, fails `npm test` as well. */
function countsOf(tried) {
  const count = (...statuses) => tried.filter(({ status }) => statuses.includes(status)).length;
  const killed = count('Killed', 'RuntimeError');
  const timeout = count('Timeout');
  const survived = count('Survived');
  const noCoverage = count('NoCoverage');
  if (killed + timeout + survived + noCoverage !== tried.length) throw new Error('a mutant ended in an unknown way');
  return { killed, timeout, survived, noCoverage, score: (100 * (killed + timeout)) / tried.length };
}

function tryGroup({ folders, near }, { sample, concurrency, names }) {
  const out = join(root, '.tmp/mutation');
  mkdirSync(out, { recursive: true });
  const result = join(out, `${folders.join('+').replaceAll('/', '-')}.json`);
  const task = { folders, near, size: sample, seed: SEED, concurrency, names };
  runQuietly(process.execPath, [join(root, 'scripts/mutation/run-folder.mjs'), JSON.stringify(task), result]);
  const { tried, ...rest } = JSON.parse(readFileSync(result, 'utf8'));
  return { folders, ...rest, sampled: tried.length, ...countsOf(tried), tried };
}

const COLUMNS = ['mutants', 'sampled', 'killed', 'timeout', 'survived', 'noCoverage', 'score', 'minutes'];

function printTable(groups) {
  const rows = groups.map((group) => [
    group.folders.join(', '),
    ...COLUMNS.map((name) => {
      if (name === 'score') return `${group.score.toFixed(1)} %`;
      return String(name === 'minutes' ? Math.ceil(group.seconds / 60) : group[name]);
    }),
  ]);
  const table = [['folder', ...COLUMNS.map((name) => name.replace('noCoverage', 'no coverage'))], ...rows];
  const widths = table[0].map((_, i) => Math.max(...table.map((row) => row[i].length)));
  for (const row of table)
    console.log(row.map((text, i) => (i === 0 ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  '));
}

function printSurvivors(groups) {
  for (const { folders, tried, tests } of groups) {
    const { all, related, seeing, run } = tests;
    console.log(`\n${folders.join(', ')}: ${related.length} of ${all.length} files of the quick suite import it;`);
    console.log(
      `${related.length - seeing.length} start processes or workers, which see no mutant; ${run.length} files were run`,
    );
    const left = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
    for (const { file, line, column, original, replacement, status } of left.sort(byPlace)) {
      console.log(`${file}:${line}:${column}  ${status === 'Survived' ? 'survived' : 'no coverage'}`);
      for (const [mark, text] of Object.entries({ '-': original, '+': replacement }))
        console.log(`  ${mark} ${shortened(text)}`);
    }
  }
}

const byPlace = (a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
const shortened = (text) => text.replace(/\s+/g, ' ').replace(/^(.{110}).+$/, '$1 ...');

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sample: { type: 'string', default: '300' },
      as: { type: 'string' },
      concurrency: { type: 'string', default: String(availableParallelism()) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return console.log(USAGE);
  const [sample, concurrency] = [Number(values.sample), Number(values.concurrency)];
  if (!(sample > 0 && concurrency > 0)) throw new Error(`--sample and --concurrency must be numbers above 0\n${USAGE}`);
  const names = values.as && namesOf(JSON.parse(readFileSync(values.as, 'utf8')));
  await ensureBuilt({ types: false });
  // Peers are left out: the runner finds the vitest of the root.
  ensureInstalled(join(root, 'scripts/mutation'), 'StrykerJS', ['--legacy-peer-deps']);
  const groups = groupsFor(positionals).map((group) => tryGroup(group, { sample, concurrency, names }));
  if (values.json) console.log(JSON.stringify({ seed: SEED, node: process.version, groups }));
  else {
    printTable(groups);
    printSurvivors(groups);
  }
  if (groups.some(({ score }) => score < MIN_SCORE)) {
    console.error(`a score is below ${MIN_SCORE} %`);
    process.exitCode = 1;
  }
}

const namesOf = ({ groups }) => groups.flatMap(({ tried }) => tried.map(({ name }) => name));

await main().catch(failWith);
