// Parses JSON lines: each line is one run of a benchmark suite at one commit. A line must never depend on another one, so that a
// file of any length is read with the memory of its longest line.
import type { SchemaObject } from 'ajv';
import { badFile } from './bad-file.js';
import { type Benchmark, pointsOfRun, RUN_PROPERTIES, sourceOfRun } from './benchmark-run.js';
import { checkedCommit, parsedTime } from './commit-fields.js';
import type { IngestCommit } from './ingest-commit.js';
import type { IngestContext } from './ingest-context.js';
import { parseJson } from './parse-json.js';
import { loadSchemaCheck } from './schema-check.js';

/** JSON schema (draft 7) of a line; other properties are allowed and not looked at. */
export const JSON_LINE_SCHEMA: SchemaObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'A run of a benchmark suite',
  type: 'object',
  required: ['commit', 'date', 'benches'],
  properties: {
    ...RUN_PROPERTIES,
    group: { type: 'string', description: 'The suite.' },
    commit: { type: 'string', minLength: 1 },
    timestamp: { type: 'string', description: 'When the commit was made, RFC 3339.' },
  },
};

interface Line {
  readonly group?: string;
  readonly commit: string;
  readonly timestamp?: string;
  readonly date: number;
  readonly tool?: string;
  readonly benches: readonly Benchmark[];
}

/** Turns one line into a commit; `number` counts from 1. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export type LineParser = (text: string, number: number) => IngestCommit;

/** A parser of the lines of one file. */
export const jsonLineParser = async ({ name, cleaner }: IngestContext): Promise<LineParser> => {
  const check = await loadSchemaCheck('json-lines', JSON_LINE_SCHEMA);
  return (text, number) => {
    const at = `${name}:${number}`;
    const document = parseJson(at, text);
    for (const { path, reason } of check(document)) throw badFile(at, path, reason);
    const { group, commit: id, timestamp, date, tool, benches } = document as Line;
    const commit = checkedCommit(at, '/commit', id);
    return {
      commit,
      ...(timestamp && { timestampMs: parsedTime(at, '/timestamp', timestamp) }),
      measuredMs: date,
      source: sourceOfRun(name, group, commit, date),
      points: pointsOfRun(at, '/benches', cleaner, { suite: group, tool, benches }),
    };
  };
};
