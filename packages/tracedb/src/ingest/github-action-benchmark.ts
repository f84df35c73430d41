// Parses the history that github-action-benchmark keeps, `window.BENCHMARK_DATA = {...}`. The script must never be run: what
// stands before the JSON is matched, and the rest is parsed.
import { pointer } from './bad-file.js';
import { BENCHES, pointsOfRun, sourceOfRun } from './benchmark-run.js';
import { checkedCommit, parsedTime, TIME_MS } from './commit-fields.js';
import type { IngestCommit, IngestContext } from './ingest-commit.js';
import { list, object, record, shaped, text } from './shape.js';

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
