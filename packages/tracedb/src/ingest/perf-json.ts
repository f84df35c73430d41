// Parses the Perf JSON format, version 1: one file is one commit. A result must never get a value that the file does not state.
import { badFile, pointer, shown } from './bad-file.js';
import {
  checkedCommit,
  type IngestCommit,
  type IngestContext,
  PointList,
  parsedTime,
  TIME_MS,
} from './ingest-commit.js';
import { list, number, object, oneOf, record, type Shaped, shaped, text } from './shape.js';

const TEXTS = record(text());

const RESULT = object(
  // Params of every measurement of the result.
  { key: TEXTS },
  {
    // The only measurement; 1e32 is a missing one.
    measurement: number(),
    // A further param key, to its values with their measurements.
    measurements: record(list(object({ value: text(), measurement: number() }, { links: TEXTS }, 'closed'))),
  },
  'closed',
);

/** A file. Closed: a misspelled property would otherwise lose measurements without a word. */
const PERF_FILE = object(
  { version: oneOf(1), git_hash: text(1), results: list(RESULT) },
  {
    // A change under review that was measured; must be absent or empty.
    issue: text(),
    patchset: text(),
    // When the commit was made (RFC 3339), and when it was measured: additions of this store.
    timestamp: text(),
    date: TIME_MS,
    // Params of every measurement of the file.
    key: TEXTS,
    links: TEXTS,
  },
  'closed',
);

const addResult = (
  points: PointList,
  at: string,
  path: string,
  common: Shaped<typeof TEXTS> | undefined,
  result: Shaped<typeof RESULT>,
): void => {
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
export const parsePerfJson = (document: unknown, context: IngestContext): readonly IngestCommit[] => {
  const { name: at, cleaner } = context;
  const file = shaped(PERF_FILE, at, document);
  const commit = checkedCommit(at, '/git_hash', file.git_hash);
  if (context.commit !== undefined && context.commit !== commit) {
    throw badFile(at, '/git_hash', `is ${shown(commit)}, but the commit given is ${shown(context.commit)}`);
  }
  if (file.issue) {
    throw badFile(
      at,
      '/issue',
      `names a change under review (${shown(file.issue)}), which is not a commit of the history`,
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
