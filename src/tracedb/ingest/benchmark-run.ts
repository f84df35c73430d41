// One run of a benchmark suite at one commit, as github-action-benchmark keeps it and as our JSON lines do: both give the same
// params for the same benchmark. The text after the number's unit must never become part of a series: it changes with each run.
import type { SchemaObject } from 'ajv';
import { pointer } from './bad-file.js';
import { MAX_TIME_MS } from './commit-fields.js';
import type { IngestPoint } from './ingest-commit.js';
import { PointList } from './point-list.js';
import type { SeriesCleaner } from './series-cleaner.js';

/** One figure of a run. */
export interface Benchmark {
  readonly name: string;
  readonly value: number;
  readonly unit?: string;
}

/** Properties of a run that both formats share; others are allowed and not looked at, such as `range` and `extra`. */
export const RUN_PROPERTIES: SchemaObject = {
  date: { type: 'integer', minimum: 0, maximum: MAX_TIME_MS, description: 'When it was measured, in ms since 1970.' },
  tool: { type: 'string' },
  benches: {
    type: 'array',
    items: {
      type: 'object',
      required: ['name', 'value'],
      properties: { name: { type: 'string', minLength: 1 }, value: { type: 'number' }, unit: { type: 'string' } },
    },
  },
};

/** Go's tool writes further figures after the unit, such as `ns/op\t  56 B/op`. */
const firstUnit = (unit: string): string => unit.split('\t', 1)[0].trim();

/** The points of one run; `path` is the JSON pointer of its benches. */
export const pointsOfRun = (
  at: string,
  path: string,
  cleaner: SeriesCleaner,
  { suite, tool, benches }: { readonly suite?: string; readonly tool?: string; readonly benches: readonly Benchmark[] },
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
