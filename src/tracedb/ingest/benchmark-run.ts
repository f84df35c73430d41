// One run of a benchmark suite at one commit, as github-action-benchmark keeps it and as our JSON lines do: both give the same
// params for the same benchmark. The text after the number's unit must never become part of a series: it changes with each run.
import { pointer } from './bad-file.js';
import type { IngestPoint } from './ingest-commit.js';
import { PointList } from './point-list.js';
import type { SeriesCleaner } from './series-cleaner.js';
import { list, number, object, type Shaped, text } from './shape.js';

/** Figures of a run; other properties are allowed and not looked at, such as `range` and `extra`. */
export const BENCHES = list(object({ name: text(1), value: number() }, { unit: text() }));

/** Go's tool writes further figures after the unit, such as `ns/op\t  56 B/op`. */
const firstUnit = (unit: string): string => unit.split('\t', 1)[0].trim();

/** The points of one run; `path` is the JSON pointer of its benches. */
export const pointsOfRun = (
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
  benches.forEach(({ name, value, unit = '' }, index) => {
    const params: Record<string, string> = { test: name };
    if (suite) params.suite = suite;
    if (tool) params.tool = tool;
    const shortUnit = firstUnit(unit);
    if (shortUnit !== '') params.unit = shortUnit;
    points.add(pointer(path, index), params, value);
  });
  return points.points;
};

/** The source of one run: the same however many runs come before it in the file later on. */
export const sourceOfRun = (name: string, suite: string | undefined, commit: string, measuredMs: number): string =>
  `${name}#${suite ? `${suite}@` : ''}${commit}/${measuredMs}`;
