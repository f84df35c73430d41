// Parses the output of spanline's own benchmarks, `npm run -s bench -- SUITE --json`. Figures of different machines must never
// end up in one series: absolute times hold for one machine only.
import type { SchemaObject } from 'ajv';
import { badFile, pointer, shown } from './bad-file.js';
import { checkedCommit, checkedTimeMs, MAX_TIME_MS } from './commit-fields.js';
import type { IngestCommit } from './ingest-commit.js';
import type { IngestContext } from './ingest-context.js';
import { PointList } from './point-list.js';
import { loadSchemaCheck } from './schema-check.js';

/** Figures of a result that become points, with the value of their param `stat`. A spread is no figure to watch. */
const STATS = [
  ['min', 'min'],
  ['median', 'median'],
  ['totalMedian', 'total_median'],
] as const;

const FIGURE: SchemaObject = { anyOf: [{ type: 'number' }, { type: 'null' }] };

/** JSON schema (draft 7) of the output; other properties are allowed and not looked at. */
export const SPANLINE_BENCH_SCHEMA: SchemaObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Output of a benchmark suite of spanline',
  type: 'object',
  required: ['suite', 'machine', 'results'],
  properties: {
    suite: { type: 'string', minLength: 1 },
    commit: { type: 'string', minLength: 1 },
    date: { type: 'integer', minimum: 0, maximum: MAX_TIME_MS, description: 'When it was measured, in ms since 1970.' },
    machine: {
      type: 'object',
      required: ['cpu', 'platform'],
      properties: { cpu: { type: 'string' }, platform: { type: 'string' }, cores: { type: 'integer' } },
    },
    results: {
      type: 'array',
      items: {
        type: 'object',
        required: ['subject', 'name', 'unit'],
        properties: {
          subject: { type: 'string', minLength: 1 },
          name: { type: 'string', minLength: 1 },
          n: { anyOf: [{ type: 'number' }, { type: 'string' }] },
          unit: { type: 'string', minLength: 1 },
          node: { type: 'string' },
          ...Object.fromEntries(STATS.map(([property]) => [property, FIGURE])),
        },
      },
    },
  },
};

interface Result {
  readonly subject: string;
  readonly name: string;
  readonly n?: number | string;
  readonly unit: string;
  readonly node?: string;
  readonly min?: number | null;
  readonly median?: number | null;
  readonly totalMedian?: number | null;
}

interface BenchOutput {
  readonly suite: string;
  readonly commit?: string;
  readonly date?: number;
  readonly machine: { readonly cpu: string; readonly platform: string; readonly cores?: number };
  readonly results: readonly Result[];
}

const commitOf = (at: string, inFile: string | undefined, given: string | undefined): string => {
  if (inFile !== undefined && given !== undefined && inFile !== given) {
    throw badFile(at, '/commit', `is ${shown(inFile)}, but the commit given is ${shown(given)}`);
  }
  const commit = inFile ?? given;
  if (commit === undefined) throw badFile(at, '', 'does not say which commit it measured; give it (--commit)');
  return checkedCommit(at, inFile === undefined ? '' : '/commit', commit);
};

/** What the results of one output have in common. The release of the kernel and the patch of Node would start new series. */
const commonParams = ({ suite, machine: { cpu, platform, cores } }: BenchOutput): Record<string, string> => ({
  suite,
  cpu,
  platform: platform.split(' ', 1)[0],
  ...(cores !== undefined && { cores: String(cores) }),
});

/** The one commit of a benchmark's output. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export const parseSpanlineBench = async (
  document: unknown,
  context: IngestContext,
): Promise<readonly IngestCommit[]> => {
  const at = context.name;
  const check = await loadSchemaCheck('spanline-bench', SPANLINE_BENCH_SCHEMA);
  for (const { path, reason } of check(document)) throw badFile(at, path, reason);
  const output = document as BenchOutput;
  const commit = commitOf(at, output.commit, context.commit);
  const common = commonParams(output);
  const points = new PointList(at, context.cleaner);
  output.results.forEach((result, index) => {
    const { subject, name, n, unit, node } = result;
    const params = {
      ...common,
      subject,
      test: name,
      unit,
      ...(n !== undefined && { n: String(n) }),
      ...(node && { node: node.split('.', 1)[0] }),
    };
    for (const [property, stat] of STATS) {
      const value = result[property];
      if (typeof value === 'number') points.add(pointer('/results', index, property), { ...params, stat }, value);
    }
  });
  const measuredMs = checkedTimeMs(at, '/date', output.date ?? context.measuredMs());
  const { commitMs } = context;
  const made = commitMs === undefined ? {} : { timestampMs: commitMs };
  return [{ commit, ...made, measuredMs, source: `${at}#${output.suite}`, points: points.points }];
};
