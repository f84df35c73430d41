// node bench/run.mjs SUITE [--json] [--quick] [--node 20,24] [--only REGEX] [--requests N] [--without-native]: measure a suite and print a table, or
// with --json one JSON object and nothing else. Builds and installs what it needs; progress goes to standard error.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { nodeOf } from '../scripts/lib/nodes.mjs';
import { root, runQuietly } from '../scripts/lib/run.mjs';
import { applicationsTable } from './applications/rows.mjs';
import { machine } from './lib/machine.mjs';
import { lackOf, nativePartsOf } from './lib/native-parts.mjs';
import { runSubjects } from './lib/rounds.mjs';
import { table } from './lib/table.mjs';

const SUITES = [
  'clock',
  'recording',
  'metrics',
  'exporters',
  'tracedb',
  'graph',
  'profile',
  'service',
  'server',
  'otel',
  'startup',
  'page',
  'bucket',
  'applications',
];
// Newer V8 takes over a second until the last tier has taken over from the one before.
const FULL = { rounds: 15, roundMs: 15, warmUpMs: 1200 };
const QUICK = { rounds: 5, roundMs: 5, warmUpMs: 100 };

const USAGE = `usage: npm run bench -- SUITE [--json] [--quick] [--node 20,24] [--only REGEX] [--requests N] [--without-native]

  --json        one JSON object and nothing else
  --quick       fewer and shorter rounds: to see that it runs, not what it measures
  --node LIST   major versions of Node, one after the other
  --only REGEX  cases whose name and subject match
  --requests N  of \`applications\`: how many each serves; 0: only what it answers and which traces come of it
  --without-native
                go on where the native parts cannot be built, which the result says; without it that is an error

suites: ${SUITES.join(', ')}`;

/** How a suite is measured that has only a list of subjects: each case by itself. */
const measureCases =
  (subjectsFor) =>
  async (node, { quick, only, isWanted, timing, log }) => {
    const { version, specs } = await subjectsFor(node, { quick, log });
    const each = (key) => log(`Node ${version}: ${key}`);
    const results = await runSubjects(specs, { node, only, isWanted, timing, log: each });
    return { version, results };
  };

/**
 * Measure one suite on the given major versions of Node, one after the other.
 * @returns {Promise<{ suite: string, node: string, machine: object, results: object[] }>}
 */
export async function runSuite(
  suite,
  { quick = false, nodes = [], only, isWanted, requests, withoutNative = false, log = () => {} } = {},
) {
  const { subjectsFor, measure = measureCases(subjectsFor) } = await import(`./${suite}/suite.mjs`);
  const description = machine();
  const versions = [];
  const results = [];
  const lacks = [];
  for (const major of nodes.length > 0 ? nodes : [Number(process.versions.node.split('.')[0])]) {
    const node = nodeOf(major);
    // The native clock is built for each Node by itself; the rest is up to date after the first.
    runQuietly(node, [join(root, 'scripts/build.mjs'), '--no-types']);
    const lack = lackOf(nativePartsOf(node));
    if (lack !== undefined) {
      if (!withoutNative)
        throw new Error(
          `${lack}. Install a C++ compiler and python3 and run it again, or measure without: --without-native`,
        );
      lacks.push(lack);
    }
    const { version, results: measured } = await measure(node, {
      quick,
      only,
      isWanted,
      requests,
      timing: quick ? QUICK : FULL,
      log,
    });
    versions.push(version);
    results.push(...measured.map((result) => ({ ...result, node: version })));
  }
  return {
    suite,
    node: versions.join(', '),
    machine: description,
    ...(lacks.length > 0 && { withoutNative: lacks }),
    results,
  };
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      node: { type: 'string', default: '' },
      only: { type: 'string' },
      requests: { type: 'string' },
      'without-native': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const unknown = positionals.find((name) => !SUITES.includes(name));
  if (unknown !== undefined) throw new Error(`There is no suite ${unknown}.\n${USAGE}`);
  if (positionals.length !== 1) throw new Error(USAGE);
  const outcome = await runSuite(positionals[0], {
    quick: values.quick,
    nodes: values.node.split(',').filter(Boolean).map(Number),
    only: values.only === undefined ? undefined : new RegExp(values.only),
    requests: values.requests === undefined ? undefined : Number(values.requests),
    withoutNative: values['without-native'],
    log: (line) => process.stderr.isTTY && process.stderr.write(`\r\x1b[K${line}`),
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  const tableOf = outcome.suite === 'applications' ? applicationsTable : table;
  console.log(values.json ? JSON.stringify(outcome, null, 2) : tableOf(outcome));
}

if (import.meta.filename === process.argv[1]) {
  await main().catch((error) => {
    console.error(error.message);
    process.exitCode = 2;
  });
}
