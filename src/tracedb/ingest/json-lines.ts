// Parses JSON lines: each line is one run of a benchmark suite at one commit. A line must never depend on another one, so that a
// file of any length is read with the memory of its longest line.
import { BENCHES, pointsOfRun, sourceOfRun } from './benchmark-run.js';
import { checkedCommit, parsedTime, TIME_MS } from './commit-fields.js';
import type { IngestCommit, IngestContext } from './ingest-commit.js';
import { parseJson } from './parse-json.js';
import { object, shaped, text } from './shape.js';

/** A line; other properties are allowed and not looked at. `group` is the suite, `timestamp` when the commit was made (RFC 3339). */
const LINE = object(
  { commit: text(1), date: TIME_MS, benches: BENCHES },
  { group: text(), timestamp: text(), tool: text() },
);

/** Turns one line into a commit; `number` counts from 1. Throws `ERR_SPANLINE_INVALID_INPUT`. */
export type LineParser = (text: string, number: number) => IngestCommit;

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
