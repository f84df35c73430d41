// Summaries of many traces as columns: a hundred thousand of them are drawn, and one of them is opened by its id.
import type { TraceSummary } from 'spanline/internal/record';
import type { PointsAnswer } from './answers.js';

/** Traces of one answer. */
export const MAX_POINTS = 100_000;
/** Different names that are told; a service that puts ids into names has as many as traces. */
const MAX_NAMES = 1000;
const NS_PER_US = 1000n;

/** The columns of traces. */
export const tracePoints = (traces: readonly TraceSummary[]): PointsAnswer => {
  const names = new Map<string, number>();
  const numberOf = (name: string): number => {
    const known = names.get(name);
    if (known !== undefined) return known;
    if (names.size >= MAX_NAMES) return -1;
    names.set(name, names.size);
    return names.size - 1;
  };
  return {
    startUs: traces.map(({ startUnixNs }) => Number(startUnixNs / NS_PER_US)),
    durationUs: traces.map(({ durationNs }) => Number(durationNs / NS_PER_US)),
    isError: traces.map(({ errorCount }) => (errorCount > 0 ? 1 : 0)),
    name: traces.map(({ name }) => numberOf(name)),
    names: [...names.keys()],
    ids: traces.map(({ traceId }) => traceId).join(''),
  };
};
