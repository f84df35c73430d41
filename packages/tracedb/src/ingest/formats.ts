// The formats of ingest files, which one a file has, and the parsers of those that are one document of one commit: Perf JSON version 1, and the
// output of spanline's own benchmarks, `npm run -s bench -- SUITE --json`. A format must never be told by the name of the file: names are free. A
// result must never get a value that the file does not state, and figures of different machines must never end up in one series: absolute times hold
// for one machine only.
import { attempt } from 'spanline/internal/base';
import { invalidInput, type TraceDbError } from '../tracedb-error.js';
import { isBenchmarkScript, parseGithubActionBenchmark } from './benchmark-run.js';
import {
  checkedCommit,
  checkedTimeMs,
  type IngestCommit,
  type IngestContext,
  PointList,
  parsedTime,
  TIME_MS,
} from './ingest-commit.js';
import {
  badFile,
  either,
  integer,
  isObject,
  list,
  number,
  object,
  oneOf,
  pointer,
  quoted,
  record,
  type Shaped,
  shaped,
  shown,
  text,
} from './shape.js';

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
const parsePerfJson = (document: unknown, context: IngestContext): readonly IngestCommit[] => {
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

/** Figures of a result that become points, with the value of their param `stat`. A spread is not a figure to watch. */
const STATS = [
  ['min', 'min'],
  ['median', 'median'],
  ['totalMedian', 'total_median'],
] as const;

const FIGURE = either(number(), oneOf(null));

/** The output; other properties are allowed and not looked at. */
const OUTPUT = object(
  {
    suite: text(1),
    machine: object({ cpu: text(), platform: text() }, { cores: integer() }),
    results: list(
      object(
        { subject: text(1), name: text(1), unit: text(1) },
        { n: either(number(), text()), node: text(), min: FIGURE, median: FIGURE, totalMedian: FIGURE },
      ),
    ),
  },
  { commit: text(1), date: TIME_MS },
);

const commitOf = (at: string, inFile: string | undefined, given: string | undefined): string => {
  if (inFile !== undefined && given !== undefined && inFile !== given) {
    throw badFile(at, '/commit', `is ${shown(inFile)}, but the commit given is ${shown(given)}`);
  }
  const commit = inFile ?? given;
  if (commit === undefined) throw badFile(at, '', 'does not say which commit it measured; give it (--commit)');
  return checkedCommit(at, inFile === undefined ? '' : '/commit', commit);
};

/** What the results of one output have in common. The release of the kernel and the patch of Node would start new series. */
const commonParams = ({ suite, machine: { cpu, platform, cores } }: Shaped<typeof OUTPUT>): Record<string, string> => ({
  suite,
  cpu,
  platform: platform.split(' ', 1)[0],
  ...(cores !== undefined && { cores: String(cores) }),
});

/** The one commit of a benchmark's output. Throws `ERR_SPANLINE_INVALID_INPUT`. */
const parseSpanlineBench = (document: unknown, context: IngestContext): readonly IngestCommit[] => {
  const at = context.name;
  const output = shaped(OUTPUT, at, document);
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

/** Turns a parsed document into commits. */
type DocumentParser = (document: unknown, context: IngestContext) => readonly IngestCommit[];

/** The formats that are one JSON document. */
export const DOCUMENT_PARSERS = {
  'perf-json': parsePerfJson,
  'github-action-benchmark': parseGithubActionBenchmark,
  'spanline-bench': parseSpanlineBench,
} as const satisfies Record<string, DocumentParser>;

/** A format that is one JSON document. */
export type DocumentFormat = keyof typeof DOCUMENT_PARSERS;

/** A format of ingest files. */
export type IngestFormat = DocumentFormat | 'json-lines';

/** All formats, for the help of commands. */
export const INGEST_FORMATS: readonly IngestFormat[] = Object.freeze([
  'perf-json',
  'github-action-benchmark',
  'json-lines',
  'spanline-bench',
]);

/** Formats that say for themselves which commits were measured, and name many. */
export const HISTORY_FORMATS: ReadonlySet<IngestFormat> = new Set(['github-action-benchmark', 'json-lines']);

/** The format of this name. Throws `ERR_SPANLINE_INVALID_INPUT` with the names there are. */
export const ingestFormat = (name: string): IngestFormat => {
  const format = INGEST_FORMATS.find((known) => known === name);
  if (format !== undefined) return format;
  throw invalidInput(`there is no ingest format ${quoted(String(name))}; there are ${INGEST_FORMATS.join(', ')}`);
};

/** The properties by which a document is recognised; the first row of which it has all decides. */
const MARKS: readonly (readonly [IngestFormat, readonly string[]])[] = [
  ['json-lines', ['commit', 'benches']],
  ['perf-json', ['git_hash']],
  ['spanline-bench', ['suite', 'results']],
  ['github-action-benchmark', ['entries']],
  // What only lacks the hash: its schema says so better than a list of formats.
  ['perf-json', ['version', 'results']],
];

/** The format of a parsed document, or of a parsed first line; undefined when it has none. */
export const formatOfDocument = (document: unknown): IngestFormat | undefined => {
  if (!isObject(document)) return undefined;
  return MARKS.find(([, properties]) => properties.every((property) => Object.hasOwn(document, property)))?.[0];
};

/** The format a file's first line shows; undefined when only the whole file can tell. */
export const formatOfFirstLine = (line: string): IngestFormat | undefined => {
  if (isBenchmarkScript(line)) return 'github-action-benchmark';
  return attempt(() => formatOfDocument(JSON.parse(line)));
};

/** The error for a file of no known format. */
export const unknownFormat = (at: string, document: unknown): TraceDbError => {
  const keys = isObject(document) ? Object.keys(document).slice(0, 5).map(quoted).join(', ') : '';
  const what = keys === '' ? shown(document) : `an object with ${keys}`;
  return badFile(at, '', `is ${what}, which is none of the formats ${INGEST_FORMATS.join(', ')}`);
};
