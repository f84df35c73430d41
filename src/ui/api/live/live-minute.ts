// The last minute of an archive in figures. A trace counts in the second in which it ended; percentiles are exact, over all traces looked at.

import { getOrMake } from '../../../base/maps/get-or-make.js';
import type { TraceSummary } from '../../../trace/archived-span.js';
import { percentile } from '../percentile.js';
import { traceRow } from '../traces/traces-routes.js';
import type { LiveMinute, LiveOperation } from './answers.js';

/** Seconds looked back. */
export const SECONDS = 60;
/** Traces looked at in one minute. */
export const MAX_TRACES = 10_000;
const MAX_OPERATIONS = 50;
const LISTED = 10;

const operationOf = (traces: readonly TraceSummary[]): LiveOperation => {
  const [{ service, name }] = traces;
  const sorted = traces.map(({ durationNs }) => Number(durationNs) / 1000).sort((a, b) => a - b);
  return {
    service,
    name,
    count: traces.length,
    errors: traces.filter(({ errorCount }) => errorCount > 0).length,
    p50Us: percentile(sorted, 0.5),
    p95Us: percentile(sorted, 0.95),
    p99Us: percentile(sorted, 0.99),
  };
};

/** What `traces`, the newest first, say of the minute before `nowUnixNs`. Those that ended outside of it are left out. */
export const liveMinute = (traces: readonly TraceSummary[], nowUnixNs: bigint): LiveMinute => {
  const fromUnixNs = nowUnixNs - BigInt(SECONDS) * 1_000_000_000n;
  const ended = new Array<number>(SECONDS).fill(0);
  const failed = new Array<number>(SECONDS).fill(0);
  const byOperation = new Map<string, TraceSummary[]>();
  const within: TraceSummary[] = [];
  for (const trace of traces) {
    const second = Number((trace.startUnixNs + trace.durationNs - fromUnixNs) / 1_000_000_000n);
    if (trace.startUnixNs + trace.durationNs < fromUnixNs || second >= SECONDS) continue;
    within.push(trace);
    ended[second]++;
    if (trace.errorCount > 0) failed[second]++;
    getOrMake(byOperation, JSON.stringify([trace.service, trace.name]), () => []).push(trace);
  }
  const operations = [...byOperation.values()].sort((a, b) => b.length - a.length).slice(0, MAX_OPERATIONS);
  const slowest = within.toSorted((a, b) => Number(b.durationNs - a.durationNs)).slice(0, LISTED);
  return {
    ended,
    failed,
    operations: operations.map(operationOf),
    newest: within.slice(0, LISTED).map(traceRow),
    slowest: slowest.map(traceRow),
    isCut: traces.length >= MAX_TRACES,
  };
};
