// Traces of the same shape together, and comparisons: two traces, or two groups of traces, as the rows of one tree. Traces of a search are read a few
// at a time, bounded by the bytes that they cost: what is over that is not read, and said. Nothing here may recurse: a tree can be as deep as it has spans.
import type { Archive, TraceSummary } from '@spanline/archive';
import { type Call, HttpError, loadTraces, type Route, required, traceIdOf } from '@spanline/archive/internal';
import { getOrMake } from 'spanline/internal/base';
import { type ArchivedSpan, plant, type SpanNode } from 'spanline/internal/record';
import { drawShape, type TraceShape, traceShape } from 'spanline/testing';
import type { CompareAnswer, ComparedRow, ComparedSide, GroupRow, GroupsAnswer } from '../answers.js';
import { type ArchiveOf, apiGet } from '../api-route.js';
import { findTraces, searchOf, type TraceQuery, withinBytes } from '../traces/search-of.js';

/** The value that `share` of the ascending ones do not exceed; at least one is needed. */
export const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)];

const MAX_BYTES = 256 * 2 ** 20;

/** A trace and its shape. */
interface ShapedTrace {
  readonly summary: TraceSummary;
  readonly spans: readonly ArchivedSpan[];
  readonly shape: TraceShape;
}

/** How many traces of a query were read, and whether there are more. */
const shapedTraces = async (
  archive: Archive,
  query: TraceQuery,
  signal: AbortSignal,
  each: (trace: ShapedTrace) => void,
): Promise<{ readonly read: number; readonly isMore: boolean }> => {
  const { traces: summaries, next, endedAtNs } = await findTraces(archive, query, signal);
  const wanted = withinBytes(summaries, MAX_BYTES);
  const byId = new Map(wanted.map((summary) => [summary.traceId, summary]));
  for await (const [traceId, spans] of loadTraces(archive, wanted, { signal }))
    each({ summary: byId.get(traceId) as TraceSummary, spans, shape: traceShape(spans) });
  const isMore = next !== undefined || endedAtNs !== undefined || wanted.length < summaries.length;
  return { read: wanted.length, isMore };
};

const MAX_ROWS = 5000;
/** Traces of a group that are compared: the newest. */
const MAX_OF_GROUP = 100;
const NS_PER_US = 1000;

interface Side {
  readonly title: string;
  readonly traces: (readonly ArchivedSpan[])[];
}

const oneTrace = async (archive: Archive, id: string, signal: AbortSignal): Promise<Side> => {
  const spans = await archive.trace(id, { signal });
  if (spans.length === 0) throw new HttpError(404, `there is no trace ${id}`);
  return { title: spans[0].name, traces: [spans] };
};

/** `trace:ID` or `group:DIGEST`, the latter among the traces of the search. */
const sidesOf = async (archive: Archive, { query, signal }: Call): Promise<Side[]> => {
  const wanted = ['a', 'b'].map((name) => {
    const text = required(query, name);
    const [, kind, id] = /^(trace|group):([0-9a-f]{1,32})$/.exec(text) ?? [];
    if (id === undefined) throw new HttpError(400, `the parameter ${name} must be trace:ID or group:DIGEST`);
    return { kind, id };
  });
  const groups = new Map<string, { title: string; traces: (readonly ArchivedSpan[])[] }>(
    wanted.filter(({ kind }) => kind === 'group').map(({ id }) => [id, { title: '', traces: [] }]),
  );
  if (groups.size > 0)
    await shapedTraces(archive, searchOf(query), signal, ({ summary, spans, shape }) => {
      const group = groups.get(shape.digest);
      if (group === undefined || group.traces.length >= MAX_OF_GROUP) return;
      group.title = summary.name;
      group.traces.push(spans);
    });
  return Promise.all(
    wanted.map(({ kind, id }) => {
      if (kind === 'trace') return oneTrace(archive, traceIdOf('id', id), signal);
      const group = groups.get(id);
      if (group === undefined || group.traces.length === 0)
        throw new HttpError(404, `no trace of the search has the shape ${id}: choose again among the groups`);
      return group;
    }),
  );
};

// Two sets of traces as one tree: spans of the same name under the same names are one node, with what each side has of it.

/** Of all traces of a side together. */
interface MergedSide {
  count: number;
  ns: bigint;
}

/** Spans of one name under the same names. */
interface MergedNode {
  readonly name: string;
  readonly left: MergedSide;
  readonly right: MergedSide;
  /** By name, in the order in which they first began. */
  readonly children: Map<string, MergedNode>;
}

const nodeNamed = (name: string): MergedNode => ({
  name,
  left: { count: 0, ns: 0n },
  right: { count: 0, ns: 0n },
  children: new Map(),
});

type Place = readonly [siblings: Map<string, MergedNode>, nodes: readonly SpanNode<ArchivedSpan>[]];

const addTrace = (roots: Map<string, MergedNode>, spans: readonly ArchivedSpan[], side: 'left' | 'right'): void => {
  const stack: Place[] = [[roots, plant(spans)]];
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const [siblings, nodes] = place;
    for (const { span, children } of nodes) {
      const node = getOrMake(siblings, span.name, () => nodeNamed(span.name));
      node[side].count++;
      node[side].ns += span.endUnixNs - span.startUnixNs;
      if (children.length > 0) stack.push([node.children, children]);
    }
  }
};

/** The roots, by name. */
const mergedTree = (
  left: Iterable<readonly ArchivedSpan[]>,
  right: Iterable<readonly ArchivedSpan[]>,
): Map<string, MergedNode> => {
  const roots = new Map<string, MergedNode>();
  for (const spans of left) addTrace(roots, spans, 'left');
  for (const spans of right) addTrace(roots, spans, 'right');
  return roots;
};

const perTrace = ({ count, ns }: MergedSide, traces: number): ComparedSide => ({
  count: count / traces,
  us: Number(ns) / NS_PER_US / traces,
});

const rowsOf = (roots: ReadonlyMap<string, MergedNode>, left: number, right: number): ComparedRow[] => {
  const rows: ComparedRow[] = [];
  const stack = [...roots.values()].reverse().map((node) => ({ node, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { node, depth } = next;
    rows.push({ depth, name: node.name, left: perTrace(node.left, left), right: perTrace(node.right, right) });
    for (const child of [...node.children.values()].reverse()) stack.push({ node: child, depth: depth + 1 });
  }
  return rows;
};

/** Answer of /ui/api/compare: `a` and `b`, and the parameters of the search in which groups were found. */
const compareAnswer = async (archive: Archive, call: Call): Promise<CompareAnswer> => {
  const [left, right] = await sidesOf(archive, call);
  const roots = mergedTree(left.traces, right.traces);
  const rows = rowsOf(roots, left.traces.length, right.traces.length);
  return {
    left: { title: left.title, traceCount: left.traces.length },
    right: { title: right.title, traceCount: right.traces.length },
    rows: rows.slice(0, MAX_ROWS),
    leftOut: Math.max(0, rows.length - MAX_ROWS),
  };
};

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
