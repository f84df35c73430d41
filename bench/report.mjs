// node bench/report.mjs [FILE.json ...]: keeps measured rows in docs/benchmarks/SUITE.json and puts the tables made of them into
// docs/benchmarks.md and README.md, between their markers. Without files it measures all suites but
// `applications` on Node 20 and 24, `service` on 26 too; with files it takes what `npm run -s bench -- SUITE --json` printed, and other suites stay as
// they are, as do other applications; `--tables` measures nothing and makes the tables anew. It must never write a number that was not in such an object.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../scripts/lib/run.mjs';
import { applicationsMarkdown } from './applications/rows.mjs';
import { SHOWN } from './lib/shown.mjs';
import { markdown } from './lib/table.mjs';
import { digits, isDifference, majorOf, rangeOf, verdictsOf } from './lib/verdict.mjs';
import { runSuite } from './run.mjs';

const NODES = [20, 24];
const SUITE_NODES = { service: [20, 24, 26] };
/** The line of Node that people run comes first, and is the one of columns that show one only and of README.md. */
const LEAD = 24;
const PAGE = 'docs/benchmarks.md';

const pathOf = (suite) => join(root, 'docs/benchmarks', `${suite}.json`);

/** Applications are measured a few at a time: those that this run has not measured keep their rows. */
const withOthers = (suite, results) => {
  if (suite !== 'applications' || !existsSync(pathOf(suite))) return results;
  const before = JSON.parse(readFileSync(pathOf(suite), 'utf8')).results;
  const isNew = ({ name }) => !before.some((row) => row.name === name);
  return [...before.map((row) => results.find(({ name }) => name === row.name) ?? row), ...results.filter(isNew)];
};

/** One row a line, so that a new run shows as the rows that changed. */
const keep = ({ results, ...outcome }) => {
  const rows = withOthers(outcome.suite, results)
    .map((row) => `    ${JSON.stringify(row)}`)
    .join(',\n');
  const head = JSON.stringify(outcome, null, 2).slice(0, -2);
  writeFileSync(pathOf(outcome.suite), `${head},\n  "results": [\n${rows}\n  ]\n}\n`);
};

const sourceOf = ({ suite, machine, node, rounded }) =>
  `On ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.platform}, Node ${node}; load before: ${machine.loadBefore}. ` +
  `All rows, with minimum, maximum and spread: [${suite}.json](benchmarks/${suite}.json)${rounded === undefined ? '' : `, to ${rounded}`}.`;

const figure = (row) => {
  if (row === undefined) return '-';
  const [low, high] = rangeOf(row);
  return isDifference(row) ? `${digits(row.median)} (${digits(low)} to ${digits(high)})` : digits(row.median);
};

const verdictText = (verdicts) => {
  if (verdicts.length === 0) return ['-', '-'];
  const limits = [
    ...new Set(verdicts.map(({ limit, unit }) => (unit.startsWith('% of') ? `${limit} ${unit}` : limit))),
  ];
  const kinds = new Set(verdicts.map(({ verdict }) => verdict));
  const each = verdicts.map(({ verdict, node }) => `${node}: ${verdict}`).join(', ');
  return [limits.join(', '), kinds.size === 1 ? verdicts[0].verdict : each];
};

const leadFirst = (list, major) => [
  ...list.filter((one) => major(one) === LEAD),
  ...list.filter((one) => major(one) !== LEAD),
];

/** At most ten cases of a suite, and how many targets were met. */
const suiteTable = (outcome) => {
  const { suite, results } = outcome;
  const verdicts = verdictsOf(outcome);
  const majors = leadFirst([...new Set(results.map(({ node }) => majorOf(node)))], (major) => major);
  const [lead] = majors;
  const rows = SHOWN[suite].flatMap(([name, n, subject = 'spanline']) => {
    const same = results.filter((row) => row.name === name && row.n === n);
    const own = majors.map((major) => same.find((row) => row.subject === subject && majorOf(row.node) === major));
    const shown = own.find((row) => row !== undefined);
    if (shown === undefined) return [];
    const peers = same.filter((row) => !row.subject.startsWith('spanline') && row.subject !== subject);
    const beside = peers.filter((row) => majorOf(row.node) === lead).map((row) => `${row.subject} ${figure(row)}`);
    const judged = verdicts.filter(
      ({ target, row }) => row.name === name && row.n === n && target.figure !== 'totalMedian',
    );
    const first = judged.filter(({ target }) => target === judged[0].target || target.nodes !== undefined);
    const cells = [...own.map(figure), digits(shown.totalMedian), beside.join(', ') || '-', ...verdictText(first)];
    return [[`\`${name}\``, n, shown.unit, ...cells]];
  });
  const nodes = majors.map((major) => `Node ${major}`);
  const header = ['case', 'n', 'unit', ...nodes, `total CPU, ${nodes[0]}`, `peers, ${nodes[0]}`, 'target', 'verdict'];
  return [sourceOf(outcome), markdown(header, rows), ...missesOf(verdicts)].join('\n\n');
};

const missLine = ({ target: { name, n, figure }, row, node, value, unit, range, limit }) =>
  `\`${name}\` ${n}${figure === 'totalMedian' ? ', total CPU' : ''}${figure === 'max' ? ', maximum' : ''}, Node ${node}: ` +
  `${digits(value)} ${unit}, ${limit} aimed at${isDifference(row) ? ` (${range.map(digits).join(' to ')})` : ''}`;

/** How many targets were met, and each that was not. */
const missesOf = (verdicts) => {
  if (verdicts.length === 0) return [];
  const of = (wanted) => verdicts.filter(({ verdict }) => verdict === wanted);
  const list = (title, some) =>
    some.length === 0 ? [] : [`${title}:\n\n${some.map((one) => `- ${missLine(one)}`).join('\n')}`];
  const [met, missed, open] = ['met', 'missed', 'not decided by this run'].map(of);
  const count = `Of ${verdicts.length} targets ${met.length} are met, ${missed.length} missed, ${open.length} not decided by this run.`;
  return [count, ...list('Missed', missed), ...list('Not decided by this run', open)];
};

/** The one sentence with figures in README.md. */
function readmeLine({ results }) {
  const addedBy = (wanted, isWanted) => {
    const { median } = results.find(
      ({ name, n, node, subject }) => name === wanted && n === 'flow' && majorOf(node) === LEAD && isWanted(subject),
    );
    return (median / 1000).toFixed(1);
  };
  const of = (isWanted) => ['record', 'send'].map((name) => addedBy(name, isWanted));
  const [recorded, sent] = of((subject) => subject === 'spanline');
  const official = of((subject) => subject.startsWith('opentelemetry@'));
  return `A span costs a service ${recorded} µs of CPU recorded and ${sent} µs recorded and sent; OpenTelemetry's SDK takes ${official.join(' and ')} µs (Node ${LEAD}, [benchmarks](docs/benchmarks.md#service)).`;
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

const files = process.argv.slice(2).filter((word) => word !== '--tables');
const suites = Object.keys(SHOWN);
if (files.length > 0) for (const file of files) keep(JSON.parse(readFileSync(file, 'utf8')));
else if (!process.argv.includes('--tables'))
  for (const suite of suites)
    keep(await runSuite(suite, { nodes: SUITE_NODES[suite] ?? NODES, log: (line) => console.error(line) }));

for (const suite of suites) {
  // Not measured yet.
  if (!existsSync(pathOf(suite))) continue;
  const outcome = JSON.parse(readFileSync(pathOf(suite), 'utf8'));
  insert(PAGE, suite, suiteTable(outcome));
  if (suite === 'service') insert('README.md', suite, readmeLine(outcome));
}
// Too long for a run of all.
if (existsSync(pathOf('applications')))
  insert(PAGE, 'applications', applicationsMarkdown(JSON.parse(readFileSync(pathOf('applications'), 'utf8'))));
