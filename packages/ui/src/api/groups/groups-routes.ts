// Traces of the same shape together, and comparisons.
import type { Call, Route } from '@spanline/archive/internal';
import { getOrMake } from 'spanline/internal/base';
import { drawShape, type TraceShape, type TraceSummary } from 'spanline/internal/record';
import { apiGet } from '../api-route.js';
import type { ArchiveOf } from '../archive-of.js';
import { percentile } from '../percentile.js';
import { searchOf } from '../traces/search-of.js';
import type { GroupRow, GroupsAnswer } from './answers.js';
import { compareAnswer } from './compare.js';
import { shapedTraces } from './shaped-traces.js';

const NS_PER_US = 1000;
/** Of a shape, for a tooltip's worth of text. */
const MAX_SHAPE_TEXT = 4000;

interface Group {
  readonly shape: TraceShape;
  readonly summaries: TraceSummary[];
}

const rowOf = ({ shape, summaries }: Group): GroupRow => {
  const bySlowness = summaries.toSorted((a, b) => Number(a.durationNs - b.durationNs));
  const times = bySlowness.map(({ durationNs }) => Number(durationNs) / NS_PER_US);
  const slowest = bySlowness[bySlowness.length - 1];
  return {
    digest: shape.digest,
    name: slowest.name,
    service: slowest.service,
    count: summaries.length,
    errorCount: summaries.filter(({ errorCount }) => errorCount > 0).length,
    spanCount: slowest.spanCount,
    p50Us: percentile(times, 0.5),
    p99Us: percentile(times, 0.99),
    slowestId: slowest.traceId,
    shape: drawShape(shape).slice(0, MAX_SHAPE_TEXT),
  };
};

const groupsAnswer = async (archiveOf: ArchiveOf, call: Call): Promise<GroupsAnswer> => {
  const { query, signal } = call;
  const groups = new Map<string, Group>();
  const archive = await archiveOf(call);
  const { read, isMore } = await shapedTraces(archive, searchOf(query), signal, ({ summary, shape }) =>
    getOrMake(groups, shape.digest, (): Group => ({ shape, summaries: [] })).summaries.push(summary),
  );
  return {
    groups: [...groups.values()].map(rowOf).sort((a, b) => b.p50Us * b.count - a.p50Us * a.count),
    traceCount: read,
    isFull: isMore,
  };
};

/** Groups and comparisons over the parameters of the search. */
export const groupsRoutes = (archiveOf: ArchiveOf): Route[] => [
  apiGet('groups', (call) => groupsAnswer(archiveOf, call)),
  apiGet('compare', async (call) => compareAnswer(await archiveOf(call), call)),
];
