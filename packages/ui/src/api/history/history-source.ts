// What History reads, wherever it is kept: a Perf store or files of runs. Both must mean the same by a series, a commit and a query.
import type { Commit, ComparedSeries, ParamSet, PerfSeries } from '@spanline/tracedb';
import type { ChangeTriage, TriagedChange } from '@spanline/tracedb/internal';

/** A caller that may go away. */
export interface Asked {
  readonly signal: AbortSignal;
}

/** A history of values by commit, queried by params. */
export interface HistorySource {
  /** What a query can be built of; the tile whose params these are, where they are of one. Undefined where there is nothing yet. */
  params(call: Asked): Promise<{ readonly set: ParamSet; readonly tile?: number } | undefined>;
  /** How many series of these params a query selects. Rejects with `ERR_SPANLINE_INVALID_INPUT`. */
  count(query: string, call: Asked): Promise<number>;
  /** The histories that a query selects, over the newest `last` commits, sorted by key, some at a time. */
  series(query: string, last: number, call: Asked): AsyncIterable<readonly PerfSeries[]>;
  /** Why a query selects nothing. */
  reason(query: string, call: Asked): Promise<string>;
  /** The commits with these numbers, both included, oldest first. */
  commits(from: number, to: number, call: Asked): Promise<readonly Commit[]>;
  /** Series of a query that have a value at both commits, the largest change first. */
  compare(from: number, to: number, query: string, call: Asked): Promise<readonly ComparedSeries[]>;
  /** What was said of changes at these commits, both included. */
  judgements(from: number, to: number, call: Asked): Promise<readonly TriagedChange[]>;
  /** Keep what somebody says of a change. */
  judge(said: ChangeTriage, call: Asked): Promise<TriagedChange>;
}
