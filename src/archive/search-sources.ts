// Searches several sources at once. Parts of a trace may lie in several: a trace that is found is put together before it counts, and the
// answer is the same in whatever order the sources are asked.
import { checkSignal } from '../graph/transport/check-signal.js';
import type { ArchivedSpan, TraceSearch, TraceSummary } from './archived-span.js';
import type { QueryOptions } from './segment-source.js';
import { isMeant } from './span-conditions.js';
import { meetsConditions, newestFirst, summaryOf } from './span-list.js';
import type { TraceSource } from './trace-source.js';
import { rootFirst } from './trace-tree.js';

/** The spans of traces out of all sources; of a span that comes twice the last one, sources being given newest first. */
export const tracesFrom = async (
  sources: readonly TraceSource[],
  ids: readonly string[],
  options: QueryOptions,
): Promise<Map<string, ArchivedSpan[]>> => {
  const parts = new Map<string, (readonly ArchivedSpan[])[]>();
  for (const source of sources) {
    checkSignal('the archive', options);
    const possible = await source.possible(ids);
    if (possible.length === 0) continue;
    for (const [id, spans] of await source.traces(possible)) {
      const known = parts.get(id);
      if (known === undefined) parts.set(id, [spans]);
      else known.unshift(spans);
    }
  }
  const traces = new Map<string, ArchivedSpan[]>();
  for (const id of ids) {
    const some = parts.get(id);
    if (some !== undefined) traces.set(id, some.length === 1 ? [...some[0]] : rootFirst(some.flat()));
  }
  return traces;
};

/** Summaries of the traces that meet all conditions, the newest first. */
export const searchSources = async (
  sources: readonly TraceSource[],
  search: TraceSearch & { readonly limit: number },
  options: QueryOptions,
): Promise<TraceSummary[]> => new Searching(sources, search, options).run();

class Searching {
  /** The newest found so far, in order, no more than wanted. */
  private found: TraceSummary[] = [];
  /** Every trace that was looked at, whether it is meant or not. */
  private readonly known = new Set<string>();

  constructor(
    private readonly sources: readonly TraceSource[],
    private readonly search: TraceSearch & { readonly limit: number },
    private readonly options: QueryOptions,
  ) {}

  async run(): Promise<TraceSummary[]> {
    const { fromUnixNs, toUnixNs } = this.search;
    const byEnd = [...this.sources].sort((a, b) =>
      a.endUnixNs > b.endUnixNs ? -1 : a.endUnixNs < b.endUnixNs ? 1 : 0,
    );
    for (const source of byEnd) {
      checkSignal('the archive', this.options);
      if (fromUnixNs !== undefined && source.endUnixNs < fromUnixNs) break;
      if (toUnixNs !== undefined && source.startUnixNs > toUnixNs) continue;
      if (this.isEnough(source.endUnixNs)) break;
      await this.searchIn(source);
    }
    return this.found;
  }

  /** Whether everything that starts at `latest` or before comes too late. */
  private isEnough(latest: bigint): boolean {
    const { found } = this;
    return found.length === this.search.limit && found[found.length - 1].startUnixNs > latest;
  }

  /** A source gives its newest; more of them, as long as some turn out not to be meant or to be older as a whole. */
  private async searchIn(source: TraceSource): Promise<void> {
    for (let { limit } = this.search; ; limit *= 4) {
      const startsFromUnixNs = this.found[this.search.limit - 1]?.startUnixNs;
      const summaries = await source.summaries({ ...this.search, limit, startsFromUnixNs });
      const fresh = summaries.filter(({ traceId }) => !this.known.has(traceId));
      for (const { traceId } of fresh) this.known.add(traceId);
      const whole = await this.complete(fresh, source);
      this.found = [...this.found, ...whole].sort(newestFirst).slice(0, this.search.limit);
      if (summaries.length < limit) return;
      // What was not given yet comes behind the last that was.
      const [last, lastFound] = [summaries[limit - 1], this.found[this.search.limit - 1]];
      if (lastFound !== undefined && (lastFound.traceId === last.traceId || newestFirst(lastFound, last) < 0)) return;
    }
  }

  /** Traces found in one source with what the others have of them, as far as they are meant then. */
  private async complete(summaries: readonly TraceSummary[], source: TraceSource): Promise<TraceSummary[]> {
    const ids = summaries.map(({ traceId }) => traceId);
    const others = this.sources.filter((other) => other !== source);
    const elsewhere = await tracesFrom(others, ids, this.options);
    if (elsewhere.size === 0) return [...summaries];
    const split = await tracesFrom(this.sources, [...elsewhere.keys()], this.options);
    return summaries.flatMap((summary) => {
      const spans = split.get(summary.traceId);
      if (spans === undefined) return [summary];
      const whole = summaryOf(spans);
      return meetsConditions(whole, this.search) && spans.some((span) => isMeant(span, this.search)) ? [whole] : [];
    });
  }
}
