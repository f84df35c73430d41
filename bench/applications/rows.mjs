// What the matrix shows of an application: cells for both tables, and where ours is worse than the official packages. A cell with more than one figure
// has them in the order untraced, ours, official, or ours and official.
import { markdown } from '../lib/table.mjs';

const BOTH = ['spanline', 'official'];
const ALL = ['untraced', ...BOTH];

const round = (value) => (value === undefined ? '-' : value.toFixed(0));
const inOrder = (row, ways, text) => ways.map((way) => text(row[way])).join(' / ');
const yes = (is) => (is ? 'yes' : 'no');

/** Of what official adds, and what ours may add in any case. */
const CPU_BOUND = { share: 1 / 4, us: 10 };
const RSS_BOUND = { share: 1 / 2, mb: 40 };

/** Figures by which added CPU is judged: the one alone is noise where the other does not say the same. */
const ADDED = ['addedUs', 'addedUsOfMin'];

const cpuBound = ({ official }, figure) => Math.max(CPU_BOUND.share * official[figure], CPU_BOUND.us);

const cpuVerdict = (row) => {
  if (row.spanline.addedUs === undefined || row.official.addedUs === undefined) return '-';
  const known = ADDED.filter((figure) => row.spanline[figure] !== undefined);
  const met = known.filter((figure) => row.spanline[figure] <= cpuBound(row, figure));
  if (met.length === known.length) return 'met';
  return met.length === 0 ? 'missed' : 'open';
};

/** In which of them ours adds more than its bound. */
export function aboveOf(row) {
  const { name, spanline, official, untraced } = row;
  const above = ({ rssMb }) => rssMb - untraced.rssMb;
  const rss = Math.max(RSS_BOUND.share * above(official), RSS_BOUND.mb);
  const cpu = `${name}: CPU ${round(spanline.addedUs)}, not ${round(cpuBound(row, 'addedUs'))} µs`;
  return [
    ...(cpuVerdict(row) === 'missed' ? [cpu] : []),
    ...(cpuVerdict(row) === 'open' ? [`${cpu}, which this run leaves open`] : []),
    ...(above(spanline) > rss ? [`${name}: rss ${round(above(spanline))}, not ${round(rss)} MB`] : []),
  ];
}

export const HEADER = [
  'application',
  'of',
  'started',
  'same answers',
  'one tree each',
  'mixed',
  'CPU, µs',
  'added, µs',
  'added, of minima',
  'CPU target',
  'CPU until warm, s',
  'rss, MB',
  'start-up, ms',
  'at SIGTERM',
];

export const cellsOf = (row) => [
  row.name,
  row.of,
  inOrder(row, BOTH, ({ isStarted }) => yes(isStarted)),
  inOrder(row, BOTH, ({ isSame }) => yes(isSame)),
  inOrder(row, BOTH, ({ trees, requests }) => (trees === requests ? 'yes' : `${trees} of ${requests}`)),
  inOrder(row, BOTH, ({ mixed }) => mixed ?? '-'),
  inOrder(row, ALL, ({ cpuUs }) => round(cpuUs)),
  inOrder(row, BOTH, ({ addedUs, addedUsFrom, addedUsTo }) =>
    addedUs === undefined ? '-' : `${round(addedUs)} (${round(addedUsFrom)} to ${round(addedUsTo)})`,
  ),
  inOrder(row, BOTH, ({ addedUsOfMin }) => round(addedUsOfMin)),
  cpuVerdict(row),
  inOrder(row, ALL, ({ warmMs }) => (warmMs === undefined ? '-' : (warmMs / 1000).toFixed(1))),
  inOrder(row, ALL, ({ rssMb }) => round(rssMb)),
  inOrder(row, ALL, ({ startMs }) => round(startMs)),
  inOrder(row, ALL, ({ end, endMs }) =>
    end === undefined ? '-' : end === 'killed' ? 'no end' : `${end} ${round(endMs)} ms`,
  ),
];

const NONE = { calls: 0, internal: 0, waits: 0 };

/** Libraries with the spans of ours and of the official packages. */
const librariesOf = ({ spanline, official }) => {
  const names = new Set([...Object.keys(spanline.spans ?? {}), ...Object.keys(official.spans ?? {})]);
  return [...names].sort().map((name) => [name, spanline.spans?.[name] ?? NONE, official.spans?.[name] ?? NONE]);
};

const sum = ({ calls, internal, waits }) => calls + internal + waits;
const listed = (entries) => entries.join(', ') || '-';

export const SPANS_HEADER = ['application', 'calls', 'all spans, with what goes on inside the process and waits'];

/** Spans of a request's answer, calls and messages; then all: parts of GraphQL, middleware, waiting for a connection too. */
export const spanCellsOf = (row) => [
  row.name,
  listed(
    librariesOf(row)
      .filter(([, ours, theirs]) => ours.calls + theirs.calls > 0)
      .map(([name, ours, theirs]) => `${name} ${ours.calls} / ${theirs.calls}`),
  ),
  listed(
    librariesOf(row)
      .filter(([, ours, theirs]) => sum(ours) + sum(theirs) > ours.calls + theirs.calls)
      .map(([name, ours, theirs]) => `${name} ${sum(ours)} / ${sum(theirs)}`),
  ),
];

/** In which of the first columns ours is worse, a line each. */
export function worseOf(row) {
  const { name, spanline, official } = row;
  const found = [];
  if (!spanline.isStarted && official.isStarted) found.push(`${name}: does not start`);
  if (!spanline.isSame && official.isSame) found.push(`${name}: other answers`);
  const missing = (way) => way.requests - way.trees;
  if (missing(spanline) > missing(official)) found.push(`${name}: ${missing(spanline)} requests are not one tree`);
  if (spanline.mixed > official.mixed) found.push(`${name}: ${spanline.mixed} traces are mixed`);
  for (const [library, ours, theirs] of librariesOf(row)) {
    if (ours.calls < theirs.calls) found.push(`${name}: ${library} has ${ours.calls} calls, ${theirs.calls} theirs`);
  }
  return found;
}

/** In which of the others its figure is above theirs. */
export const dearerOf = ({ name, spanline, official, untraced }) => [
  ...(spanline.addedUs > official.addedUs ? [`${name}: CPU`] : []),
  ...(spanline.rssMb > official.rssMb ? [`${name}: rss`] : []),
  ...(spanline.startMs > official.startMs ? [`${name}: start-up`] : []),
  ...(spanline.end !== untraced.end && official.end === untraced.end ? [`${name}: ends by ${spanline.end}`] : []),
];

const listOf = (values) => [...new Set(values.filter((value) => value !== undefined))].sort().join(', ');

/** When, of which commit, and beside how much other work. */
const runOf = (results) => {
  const dates = results
    .map(({ date }) => date)
    .filter(Boolean)
    .sort();
  if (dates.length === 0) return '';
  const loads = results.flatMap(({ load = [] }) => load).sort((a, b) => a - b);
  const times = dates.length > 1 ? `${dates[0]} to ${dates.at(-1)}` : dates[0];
  return `Measured ${times} (UTC), commit ${listOf(results.map(({ commit }) => commit))}; load before each application: ${loads[0]} to ${loads.at(-1)}. `;
};

/** What the figures are, for the head of a table. */
export const legendOf = ({ results }) =>
  `${runOf(results)}Figures in the order untraced / ours / official, or ours / official, of ${listOf(results.map(({ requests }) => requests))} requests each, 48 at once, by ` +
  'turns: a quarter of them as warm-up, then the rest in five rounds. CPU: user and system, of all threads of the process, a request, median of the rounds, with ' +
  'a second of idling after each; added: median, least and most of the differences from the untraced round beside it, which is the noise too; added, of minima: ' +
  'the difference of the cheapest rounds; CPU is counted in steps of 10 ms. CPU target: whether ours adds at most a quarter of what official adds, or 10 µs where ' +
  'that is more, by both; open where only one of them does. CPU until warm: of the process from its start to the end of the warm-up. rss: resident memory after ' +
  'the last round. start-up: until it serves, median of three. At SIGTERM: exit code or signal, median of three; no end: not within five seconds. mixed: traces at ' +
  '48 at once with other spans than those of the same request alone. Spans: of each request of the list once.';

const BOUNDS =
  'Above a quarter of the CPU that official adds, or 10 µs, or half of its rss, or 40 MB, whichever is more';

const list = (title, entries) => `${title}: ${entries.length === 0 ? 'nowhere' : entries.join('; ')}.`;

/** Both tables for the documents. */
export function applicationsMarkdown(outcome) {
  const { results, machine, node } = outcome;
  const { cpu, cores, memoryGiB, platform } = machine;
  const isBusy = results.some(({ load }) => load > cores);
  const noise = isBusy ? ' Other work ran beside: times are long, and CPU is noisy.' : '';
  return [
    `On ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${platform}, Node ${node}.${noise} ${legendOf(outcome)}`,
    markdown(HEADER, results.map(cellsOf)),
    markdown(SPANS_HEADER, results.map(spanCellsOf)),
    list('Worse than official in starting, answers, trees or calls', results.flatMap(worseOf)),
    list('Dearer than official', results.flatMap(dearerOf)),
    list(BOUNDS, results.flatMap(aboveOf)),
  ].join('\n\n');
}

const columns = (header, rows) => {
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)));
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
};

/** The same for a terminal, and what was seen that ought not to be. */
export function applicationsTable(outcome) {
  const { results } = outcome;
  const notes = results.flatMap((row) =>
    ALL.flatMap((way) => row[way].notes.map((note) => `${row.name}, ${way}: ${note}`)),
  );
  return [
    legendOf(outcome),
    columns(HEADER, results.map(cellsOf)),
    columns(SPANS_HEADER, results.map(spanCellsOf)),
    list('worse than official', results.flatMap(worseOf)),
    list('dearer than official', results.flatMap(dearerOf)),
    list(BOUNDS, results.flatMap(aboveOf)),
    ...notes,
  ].join('\n\n');
}
