// Parses the history that github-action-benchmark keeps, `window.BENCHMARK_DATA = {...}`. The script must never be run: what
// stands before the JSON is matched, and the rest is parsed.
import type { SchemaObject } from 'ajv';
import { badFile, pointer } from './bad-file.js';
import { type Benchmark, pointsOfRun, RUN_PROPERTIES, sourceOfRun } from './benchmark-run.js';
import { checkedCommit, parsedTime } from './commit-fields.js';
import type { IngestCommit } from './ingest-commit.js';
import type { IngestContext } from './ingest-context.js';
import { loadSchemaCheck } from './schema-check.js';

const PREFIX = /^\s*(?:window\s*\.\s*)?BENCHMARK_DATA\s*=\s*/;

/** JSON schema (draft 7) of what is assigned to `BENCHMARK_DATA`; other properties are allowed and not looked at. */
export const GITHUB_ACTION_BENCHMARK_SCHEMA: SchemaObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'History of github-action-benchmark',
  type: 'object',
  required: ['entries'],
  properties: {
    entries: { type: 'object', additionalProperties: { type: 'array', items: { $ref: '#/definitions/entry' } } },
  },
  definitions: {
    entry: {
      type: 'object',
      required: ['commit', 'date', 'benches'],
      properties: {
        ...RUN_PROPERTIES,
        commit: {
          type: 'object',
          required: ['id'],
          properties: { id: { type: 'string', minLength: 1 }, timestamp: { type: 'string' }, url: { type: 'string' } },
        },
      },
    },
  },
};

interface Entry {
  readonly commit: { readonly id: string; readonly timestamp?: string; readonly url?: string };
  readonly date: number;
  readonly tool?: string;
  readonly benches: readonly Benchmark[];
}

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
export const parseGithubActionBenchmark = async (
  document: unknown,
  { name: at, cleaner }: IngestContext,
): Promise<readonly IngestCommit[]> => {
  const check = await loadSchemaCheck('github-action-benchmark', GITHUB_ACTION_BENCHMARK_SCHEMA);
  for (const { path, reason } of check(document)) throw badFile(at, path, reason);
  const { entries } = document as { readonly entries: Readonly<Record<string, readonly Entry[]>> };
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
