// node bench/report.mjs [FILE.json ...]: puts measured tables into docs/benchmarks.md and README.md, between their
// markers. Without files it measures all suites on Node 20 and 24; with files it takes what `npm run -s bench -- SUITE
// --json` printed. It must never write a number that was not in such an object.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/lib/run.mjs';
import { isRate } from './lib/stats.mjs';
import { runSuite } from './run.mjs';
import { TARGETS } from './targets.mjs';

const SUITES = ['clock', 'recording', 'exporters', 'tracedb', 'graph', 'profile'];
/** Suites with a table of targets of their own; the others share one. */
const OWN_TARGETS = ['tracedb', 'graph', 'profile'];
const NODES = [20, 24];

const digits = (value) => {
  if (value === null || value === undefined) return '-';
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
};

const markdown = (header, rows) =>
  [header, header.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const MACHINE_LINE = ({ suite, machine, node }) =>
  `Suite \`${suite}\` on ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}; Node ${node}; load before: ${machine.loadBefore}. Spread is (p75 - p25) / median of the samples.`;

/** What the results say beside their figures, once for each case and subject. */
const noteList = (rows) =>
  rows.flatMap(({ name, n, subject, note }) => (note ? [`- \`${name}\` ${n}, ${subject}: ${note}`] : [])).join('\n');

function suiteTables(outcome) {
  const { results } = outcome;
  const parts = [MACHINE_LINE(outcome)];
  // Of rates the highest is the one that the machine disturbed least; of errors it is the worst.
  const showsMax = results.some(({ unit }) => isRate(unit) || unit === 'points');
  for (const node of new Set(results.map((row) => row.node))) {
    const rows = results
      .filter((row) => row.node === node)
      .map((row) => [
        `\`${row.name}\``,
        row.n,
        row.subject,
        row.unit,
        digits(row.min),
        digits(row.median),
        ...(showsMax ? [digits(row.max)] : []),
        digits(row.totalMedian),
        `${(row.spread * 100).toFixed(0)} %`,
      ]);
    const figures = ['min', 'median', ...(showsMax ? ['max'] : []), 'total CPU', 'spread'];
    parts.push(`### ${outcome.suite}, Node ${node}`, markdown(['case', 'n', 'subject', 'unit', ...figures], rows));
  }
  const [first] = results;
  const notes = noteList(results.filter(({ node }) => node === first?.node));
  if (notes !== '') parts.push(`What the cases were:\n\n${notes}`);
  return parts.join('\n\n');
}

const majorOf = (node) => Number(node.split('.')[0]);

/** A target's figure in a row: its value, its unit and its name; undefined where it was not measured. */
function figureOf({ figure, peer }, row, results) {
  if (peer === undefined) return { value: row[figure], unit: row.unit, label: figure };
  const same = (one) => one.subject === peer && one.name === row.name && one.n === row.n && one.node === row.node;
  const other = results.find(same);
  return other && { value: (100 * row[figure]) / other[figure], unit: '%', label: `${figure}, of ${peer}'s` };
}

function targetTable(outcomes) {
  const rows = [];
  for (const target of TARGETS) {
    const { suite, name, n, atMost, atLeast, nodes } = target;
    const { results } = outcomes.find((one) => one.suite === suite) ?? { results: [] };
    for (const row of results) {
      if (row.subject !== 'spanline' || row.name !== name || String(row.n) !== String(n)) continue;
      if (nodes !== undefined && !nodes.includes(majorOf(row.node))) continue;
      const { value, unit, label } = figureOf(target, row, results) ?? {};
      if (value === null || value === undefined) continue;
      const miss = atLeast === undefined ? value - atMost : atLeast - value;
      const verdict = miss <= 0 ? 'met' : `missed by ${digits(miss)} ${unit}`;
      const limit = atLeast === undefined ? digits(atMost) : `at least ${digits(atLeast)}`;
      rows.push([`\`${name}\``, n, row.node, label, limit, digits(value), unit, verdict]);
    }
  }
  return markdown(['case', 'n', 'Node', 'figure', 'target', 'measured', 'unit', 'verdict'], rows);
}

/** What README.md shows of a suite: a line for each case, a column for each subject and Node. */
const README_TABLES = {
  recording: {
    title: 'ns a span, caller time, median',
    cases: [
      ['local-span', 100],
      ['local-span-1-property', 100],
      ['span', 100],
      ['async-span', 100],
      ['root-1', 1],
    ],
    leaveOut: ['performance.now'],
    note: 'traces of 100 spans, `root-1` of one',
  },
  profile: {
    title: 'median',
    cases: [
      ['apply-register', 'on', '`apply` under profile, ns'],
      ['await-on', 'followed', 'an `await` under profile, ns'],
      ['labelled-async', 4, 'samples with their label after an `await`, %'],
      ['error-async', 4, 'error of the worst of 4 shares, points'],
      ['overhead-10ms', 'followed', 'CPU added to tasks of 3 to 5 us, %'],
    ],
    leaveOut: ['spanline-trampoline', 'inspector', 'als'],
    note: 'what is what, and where we lose: [benchmarks](docs/benchmarks.md#cpu-profiles)',
  },
};

function readmeTable({ suite, results, machine }) {
  const { title, cases, leaveOut, note } = README_TABLES[suite];
  const columns = [];
  for (const { subject, node } of results) {
    if (leaveOut.includes(subject)) continue;
    const key = `${subject} ${node}`;
    if (!columns.some((one) => one.key === key)) columns.push({ key, subject, node });
  }
  const cell = (name, n, { subject, node }) => {
    const row = results.find((one) => one.name === name && one.n === n && one.subject === subject && one.node === node);
    return row === undefined ? '-' : digits(row.median);
  };
  const used = columns.filter((column) => cases.some(([name, n]) => cell(name, n, column) !== '-'));
  const rows = cases.map(([name, n, what = `\`${name}\``]) => [what, ...used.map((column) => cell(name, n, column))]);
  const header = [title, ...used.map(({ subject, node }) => `${subject}, Node ${majorOf(node)}`)];
  return `${markdown(header, rows)}\n\n(${machine.cpu}, ${machine.cores} cores; \`npm run bench -- ${suite} --node 20,24\`; ${note})`;
}

function insert(file, name, text) {
  const path = join(root, file);
  if (!existsSync(path)) return;
  const begin = `<!-- begin ${name} -->`;
  const end = `<!-- end ${name} -->`;
  const before = readFileSync(path, 'utf8');
  const from = before.indexOf(begin);
  const to = before.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${file} has no markers "${begin}" and "${end}"`);
  writeFileSync(path, `${before.slice(0, from + begin.length)}\n${text}\n${before.slice(to)}`);
}

const files = process.argv.slice(2);
const outcomes = [];
if (files.length > 0) for (const file of files) outcomes.push(JSON.parse(readFileSync(file, 'utf8')));
else
  for (const suite of SUITES)
    outcomes.push(await runSuite(suite, { nodes: NODES, log: (line) => console.error(line) }));

for (const outcome of outcomes) insert('docs/benchmarks.md', outcome.suite, suiteTables(outcome));
// Each table is written when its suites were measured, so that a run of one suite leaves the others' targets as they are.
const others = outcomes.filter(({ suite }) => !OWN_TARGETS.includes(suite));
if (others.length > 0) insert('docs/benchmarks.md', 'targets', targetTable(others));
for (const outcome of outcomes) {
  const { suite } = outcome;
  if (OWN_TARGETS.includes(suite)) insert('docs/benchmarks.md', `${suite} targets`, targetTable([outcome]));
}
for (const outcome of outcomes)
  if (outcome.suite in README_TABLES) insert('README.md', outcome.suite, readmeTable(outcome));
