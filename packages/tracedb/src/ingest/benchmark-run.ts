// Runs of a benchmark suite at one commit each, as github-action-benchmark keeps them, `window.BENCHMARK_DATA = {...}`, and as our JSON lines do:
// both give the same params for the same benchmark. The text after the number's unit must never become part of a series: it changes with each run. A
// JSON line must never depend on another one, so that a file of any length is read with the memory of its longest line. The script must never be run:
// what stands before the JSON is matched, and the rest is parsed.
import { DIRECTION_PARAM, type Direction, directionOf } from '../detect/direction.js';
import {
  checkedCommit,
  type IngestCommit,
  type IngestContext,
  type IngestPoint,
  PointList,
  parsedTime,
  type SeriesCleaner,
  TIME_MS,
} from './ingest-commit.js';
import { list, number, object, pointer, record, type Shaped, shaped, text } from './shape.js';
import { parseJson } from './text.js';

/** Samples of one figure that become series; `spanline bench run` keeps no more. */
const MAX_SAMPLES = 32;

/**
 * Figures of a run; other properties are allowed and not looked at, such as `range` and `extra`. `params` name the series in place of `name`,
 * suite and tool.
 */
const BENCHES = list(
  object(
    { name: text(1), value: number() },
    { unit: text(), params: record(text()), samples: list(number(), MAX_SAMPLES) },
  ),
);

const indexText = (index: number): string => String(index).padStart(2, '0');

/** Go's tool writes further figures after the unit, such as `ns/op\t  56 B/op`. */
const firstUnit = (unit: string): string => unit.split('\t', 1)[0].trim();

/** Tools of github-action-benchmark that are named for the direction: it holds whatever the unit is. */
const DECLARED: ReadonlyMap<string, Direction> = new Map([
  ['customBiggerIsBetter', 'up'],
  ['customSmallerIsBetter', 'down'],
]);

/** What its other tools measure where they write a unit that nobody knows. */
const USUAL: ReadonlyMap<string, Direction> = new Map([
  ...['benchmarkjs', 'pytest'].map((tool) => [tool, 'up'] as const),
  ...['cargo', 'catch2', 'googlecpp', 'julia', 'benchmarkdotnet', 'benchmarkluau'].map(
    (tool) => [tool, 'down'] as const,
  ),
]);

/** The param that says which way is better, where the unit alone would not. */
const directionParam = (tool: string | undefined, unit: string): Readonly<Record<string, string>> => {
  if (tool === undefined) return {};
  const ofUnit = directionOf(unit);
  const direction = DECLARED.get(tool) ?? (ofUnit === 'unknown' && unit !== '' ? USUAL.get(tool) : undefined) ?? ofUnit;
  return direction === ofUnit ? {} : { [DIRECTION_PARAM]: direction };
};

/** The points of one run; `path` is the JSON pointer of its benches. */
const pointsOfRun = (
  at: string,
  path: string,
  cleaner: SeriesCleaner,
  {
    suite,
    tool,
    benches,
  }: { readonly suite?: string; readonly tool?: string; readonly benches: Shaped<typeof BENCHES> },
): readonly IngestPoint[] => {
  const points = new PointList(at, cleaner);
  benches.forEach(({ name, value, unit = '', params: own, samples }, index) => {
    const shortUnit = firstUnit(unit);
    const params: Record<string, string> = {
      ...(own ?? { test: name, ...(suite && { suite }), ...(tool && { tool }), ...directionParam(tool, shortUnit) }),
      ...(shortUnit !== '' && { unit: shortUnit }),
    };
    if (own === undefined) {
      points.add(pointer(path, index), params, value);
      return;
    }
    // Whoever looks for changes asks for the values alone.
    points.add(pointer(path, index), { ...params, stat: 'value' }, value);
    samples?.forEach((sample, i) => {
      points.add(pointer(path, index, 'samples', i), { ...params, stat: 'sample', sample: indexText(i) }, sample);
    });
  });
  return points.points;
};

/** The source of one run: the same however many runs come before it in the file later on. */
const sourceOfRun = (name: string, suite: string | undefined, commit: string, measuredMs: number): string =>
  `${name}#${suite ? `${suite}@` : ''}${commit}/${measuredMs}`;

/** A line; other properties are allowed and not looked at. `group` is the suite, `timestamp` when the commit was made (RFC 3339). */
const LINE = object(
  { commit: text(1), date: TIME_MS, benches: BENCHES },
  { group: text(), timestamp: text(), tool: text() },
);

/** Turns one line into a commit; `number` counts from 1. Throws `ERR_SPANLINE_INVALID_INPUT`. */
type LineParser = (text: string, number: number) => IngestCommit;

/** A parser of the lines of one file. */
export const jsonLineParser =
  ({ name, cleaner }: IngestContext): LineParser =>
  (line, number) => {
    const at = `${name}:${number}`;
    const { group, commit: id, timestamp, date, tool, benches } = shaped(LINE, at, parseJson(at, line));
    const commit = checkedCommit(at, '/commit', id);
    return {
      commit,
      ...(timestamp && { timestampMs: parsedTime(at, '/timestamp', timestamp) }),
      measuredMs: date,
      source: sourceOfRun(name, group, commit, date),
      points: pointsOfRun(at, '/benches', cleaner, { suite: group, tool, benches }),
    };
  };

const PREFIX = /^\s*(?:window\s*\.\s*)?BENCHMARK_DATA\s*=\s*/;

const ENTRY = object(
  { commit: object({ id: text(1) }, { timestamp: text(), url: text() }), date: TIME_MS, benches: BENCHES },
  { tool: text() },
);

/** What is assigned to `BENCHMARK_DATA`; other properties are allowed and not looked at. */
const HISTORY = object({ entries: record(list(ENTRY)) }, {});

/** Whether a text starts as `data.js` does. */
export const isBenchmarkScript = (text: string): boolean => PREFIX.test(text);

/** The JSON text of `data.js`, at the place it has in the script; a text without the assignment is taken as JSON itself. */
export const benchmarkScriptJson = (text: string): string => {
  const assigned = text.replace(PREFIX, (prefix) => prefix.replace(/\S/g, ' '));
  // An expression such as /;\s*$/ would take quadratic time on a text full of them.
  const end = assigned.trimEnd().length;
  return assigned[end - 1] === ';' ? assigned.slice(0, end - 1) : assigned;
};

/**
 * The runs of all suites, the earliest measured first, so that commits come in the order they were measured whatever suite they
 * are in. Throws `ERR_SPANLINE_INVALID_INPUT`.
 */
export const parseGithubActionBenchmark = (
  document: unknown,
  { name: at, cleaner }: IngestContext,
): readonly IngestCommit[] => {
  const { entries } = shaped(HISTORY, at, document);
  const commits: IngestCommit[] = [];
  for (const [suite, runs] of Object.entries(entries)) {
    runs.forEach(({ commit: { id, timestamp, url }, date, tool, benches }, index) => {
      const path = pointer('/entries', suite, index);
      const commit = checkedCommit(at, `${path}/commit/id`, id);
      commits.push({
        commit,
        ...(timestamp && { timestampMs: parsedTime(at, `${path}/commit/timestamp`, timestamp) }),
        measuredMs: date,
        source: sourceOfRun(at, suite, commit, date),
        points: pointsOfRun(at, `${path}/benches`, cleaner, { suite, tool, benches }),
        ...(url && { links: { commit: url } }),
      });
    });
  }
  return commits.sort((a, b) => a.measuredMs - b.measuredMs);
};
