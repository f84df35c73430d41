// The traces of a tile that a search looks at: those that meet its query, without those that an ignore rule leaves out. It must tell how many a
// rule left out, and why none can meet the query: nobody may take either for a store without faults.
import { oneOf } from 'spanline/internal/base';
import { type CleaningRule, DEFAULT_RULE } from '../params/param-text.js';
import { fitQuery, unknownIn } from '../query/known-query.js';
import { parseQuery } from '../query/parse-query.js';
import { compileQuery } from '../query/query.js';
import { invalidInput } from '../tracedb-error.js';
import { tracesByTest } from './blame.js';
import { TRIAGE_STATUSES, type TriageStatus } from './expectation.js';
import { type GoldTile, type GoldTrace, searchedParams } from './gold-tile.js';
import type { IgnoreMatcher } from './ignore-rules.js';

/** Which traces are looked at. */
export interface TraceSelection {
  /** Over params and options of traces; '' (default): all. What no trace has as it stands is looked for as `rule` cleans it. */
  readonly query?: string;
  /** How params were cleaned. Default: that of the store, and where there is only a tile `DEFAULT_RULE`. */
  readonly rule?: CleaningRule;
  /** Traces to which an ignore rule applies. Default 'exclude'. */
  readonly ignored?: 'exclude' | 'include' | 'only';
  /** The param that names the test. Default 'name'. */
  readonly testKey?: string;
}

/** The traces that were selected. */
export interface SelectedTraces {
  /** By the name of their test; no test without a trace. */
  readonly byTest: ReadonlyMap<string, readonly GoldTrace[]>;
  /** Traces that an ignore rule left out (`ignored: 'exclude'`). */
  readonly ignoredTraces: number;
  /** Why no trace can meet the query: a key or value that none of them has. */
  readonly reason: string | undefined;
}

const IGNORED = ['exclude', 'include', 'only'] as const;

/** Throws `ERR_SPANLINE_INVALID_INPUT` for what is not a status. */
export const checkStatuses = (statuses: readonly TriageStatus[]): void => {
  const unknown = statuses.find((status) => !TRIAGE_STATUSES.includes(status));
  if (unknown !== undefined) throw invalidInput(`statuses must be of ${TRIAGE_STATUSES.join(', ')}, not ${unknown}`);
};

/** The traces of `tile` that a search selects. Rejects with `ERR_SPANLINE_INVALID_INPUT`. */
export const selectTraces = async (
  tile: GoldTile,
  ignoreOf: IgnoreMatcher,
  { query = '', rule = DEFAULT_RULE, ignored = 'exclude', testKey }: TraceSelection,
): Promise<SelectedTraces> => {
  oneOf('ignored', ignored, IGNORED, invalidInput);
  const fitted = fitQuery(parseQuery(query), tile.paramSet, rule);
  const matches = await compileQuery(fitted);
  const byTest = new Map<string, readonly GoldTrace[]>();
  let ignoredTraces = 0;
  const isSelected = (trace: GoldTrace): boolean => {
    const params = searchedParams(trace);
    if (!matches(params)) return false;
    if (ignored === 'include') return true;
    const isIgnored = ignoreOf(params) !== undefined;
    if (isIgnored && ignored === 'exclude') ignoredTraces++;
    return isIgnored === (ignored === 'only');
  };
  for (const [test, traces] of tracesByTest(tile, testKey)) {
    const selected = traces.filter(isSelected);
    if (selected.length > 0) byTest.set(test, selected);
  }
  return { byTest, ignoredTraces, reason: unknownIn(fitted, tile.paramSet) };
};
