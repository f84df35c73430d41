// Parses the Perf JSON format, version 1: one file is one commit. A result must never get a value that the file does not state.
import { badFile, pointer, shown } from './bad-file.js';
import { checkedCommit, parsedTime } from './commit-fields.js';
import type { IngestCommit } from './ingest-commit.js';
import type { IngestContext } from './ingest-context.js';
import { PERF_JSON_SCHEMA } from './perf-json-schema.js';
import { PointList } from './point-list.js';
import { loadSchemaCheck } from './schema-check.js';

type Texts = Readonly<Record<string, string>>;

/** One result of a `PerfFile`: exactly one of `measurement` and `measurements`. */
interface PerfResult {
  readonly key: Texts;
  readonly measurement?: number;
  readonly measurements?: Readonly<
    Record<string, readonly { readonly value: string; readonly measurement: number; readonly links?: Texts }[]>
  >;
}

/** What `PERF_JSON_SCHEMA` describes. */
interface PerfFile {
  readonly git_hash: string;
  readonly issue?: string;
  readonly timestamp?: string;
  readonly date?: number;
  readonly key?: Texts;
  readonly results: readonly PerfResult[];
  readonly links?: Texts;
}

const addResult = (points: PointList, at: string, path: string, common: Texts | undefined, result: PerfResult) => {
  const { measurement, measurements } = result;
  // Spreading, unlike Object.assign, copies a key called `__proto__` as any other, so that it can be refused.
  const key = { ...common, ...result.key };
  if (measurement !== undefined && measurements !== undefined) {
    throw badFile(at, path, 'has both measurement and measurements; keep one');
  }
  if (measurement !== undefined) {
    points.add(path, key, measurement);
  } else if (measurements === undefined) {
    // Writers in Go drop a measurement of 0, and others one they do not have: the file does not tell which.
    throw badFile(at, path, 'has neither measurement nor measurements; write "measurement": 0 if 0 was measured');
  } else {
    for (const [name, singles] of Object.entries(measurements)) {
      singles.forEach((single, index) => {
        const where = pointer(path, 'measurements', name, index);
        points.add(where, { ...key, [name]: single.value }, single.measurement, single.links);
      });
    }
  }
};

/** The one commit of a document in the Perf JSON format. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export const parsePerfJson = async (document: unknown, context: IngestContext): Promise<readonly IngestCommit[]> => {
  const { name: at, cleaner } = context;
  const check = await loadSchemaCheck('perf-json', PERF_JSON_SCHEMA);
  for (const { path, reason } of check(document)) throw badFile(at, path, reason);
  const file = document as PerfFile;
  const commit = checkedCommit(at, '/git_hash', file.git_hash);
  if (context.commit !== undefined && context.commit !== commit) {
    throw badFile(at, '/git_hash', `is ${shown(commit)}, but the commit given is ${shown(context.commit)}`);
  }
  if (file.issue) {
    throw badFile(
      at,
      '/issue',
      `names a change under review (${shown(file.issue)}), which is no commit of the history`,
    );
  }
  const points = new PointList(at, cleaner);
  file.results.forEach((result, index) => {
    addResult(points, at, pointer('/results', index), file.key, result);
  });
  const { links, timestamp, date } = file;
  const timestampMs = timestamp === undefined ? context.commitMs : parsedTime(at, '/timestamp', timestamp);
  return [
    {
      commit,
      ...(timestampMs !== undefined && { timestampMs }),
      measuredMs: date ?? context.measuredMs(),
      source: at,
      points: points.points,
      ...(links && { links }),
    },
  ];
};
