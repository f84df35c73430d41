// What searches over several sources have in common: what was found, what was looked at, and when what was found is enough. A trace is decided by all its
// spans together, wherever its parts lie.
import type { ArchivedSpan } from 'spanline/internal/record';
import { isMeant, type NamedSearch } from './meant-spans.js';
import { meetsConditions, newestFirst, summaryOf } from './span-list.js';
import type { TraceSummary } from './trace-search.js';
import type { AskOptions, TraceSource } from './trace-source.js';

/** A search that says how many traces are wanted. */
export type LimitedSearch = NamedSearch & { readonly limit: number };

/** One search. */
export abstract class Searching {
  /** The newest found so far, in order, no more than wanted. */
  protected found: readonly TraceSummary[] = [];
  readonly #known = new Set<string>();

  constructor(
    protected readonly sources: readonly TraceSource[],
    protected readonly search: LimitedSearch,
    protected readonly options: AskOptions,
  ) {}

  /** Those of some traces that were not looked at before, and are now. */
  protected fresh<T extends { readonly traceId: string }>(traces: readonly T[]): T[] {
    const fresh = traces.filter(({ traceId }) => !this.#known.has(traceId));
    for (const { traceId } of fresh) this.#known.add(traceId);
    return fresh;
  }

  protected isKnown(traceId: string): boolean {
    return this.#known.has(traceId);
  }

  protected add(summaries: readonly TraceSummary[]): void {
    this.found = [...this.found, ...summaries].sort(newestFirst).slice(0, this.search.limit);
  }

  /** A whole trace, if it is meant. */
  protected ifMeant(spans: readonly ArchivedSpan[]): TraceSummary[] {
    const whole = summaryOf(spans);
    return meetsConditions(whole, this.search) && spans.some((span) => isMeant(span, this.search)) ? [whole] : [];
  }

  /** The one that comes last, when there are as many as wanted. */
  protected get last(): TraceSummary | undefined {
    return this.found[this.search.limit - 1];
  }

  /** Whether everything that starts at `latest` or before comes too late. */
  protected isEnough(latest: bigint): boolean {
    return this.last !== undefined && this.last.startUnixNs > latest;
  }

  /**
   * Whether all that a source has and did not give yet comes too late: it gave these, the newest of them, when it was asked for `limit`. They come where
   * their parts there put them: as a whole a trace may begin earlier.
   */
  protected isOut(given: readonly TraceSummary[], limit: number): boolean {
    return given.length < limit || (this.last !== undefined && newestFirst(this.last, given[limit - 1]) <= 0);
  }
}
