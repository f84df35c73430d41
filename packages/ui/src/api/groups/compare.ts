// Two traces, or two groups of traces, as the rows of one tree.
import type { Archive } from '@spanline/archive';
import { type Call, HttpError, required, traceIdOf } from '@spanline/archive/internal';
import { type ArchivedSpan, type MergedNode, type MergedSide, mergedTree } from 'spanline/internal/record';
import { searchOf } from '../traces/search-of.js';
import type { CompareAnswer, ComparedRow, ComparedSide } from './answers.js';
import { shapedTraces } from './shaped-traces.js';

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
export const compareAnswer = async (archive: Archive, call: Call): Promise<CompareAnswer> => {
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
