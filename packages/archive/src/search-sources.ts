// Searches several sources at once. Parts of a trace may lie in several: a trace is put together before it is decided, and the answer is
// the same wherever its parts lie and in whatever order the sources are asked.

import { checkSignal } from '@spanline/graph/internal';
import { askEach, newestSourceFirst, presentIn, tracesFrom } from './ask-sources.js';
import { searchByParts } from './search-by-parts.js';
import { type LimitedSearch, Searching } from './searching.js';
import type { TimeRange } from './segment/segment.js';
import { isInTime, type TraceSummary } from './trace-search.js';
import type { AskOptions, TraceSource } from './trace-source.js';

/** Summaries of the traces that meet all conditions, the newest first. */
export const searchSources = async (
  sources: readonly TraceSource[],
  search: LimitedSearch,
  options: AskOptions,
): Promise<readonly TraceSummary[]> =>
  (options.parallel ?? 1) > 1
    ? searchByParts(sources, search, options)
    : new PlainSearching(sources, search, options).run();

/** Traces looked for elsewhere at a time. */
const DECIDED_TRACES = 1000;

class PlainSearching extends Searching {
  /** Whether traces are listed by a part that begins early enough, and not by one that is over late enough. */
  #listsEarly = false;

  async run(): Promise<readonly TraceSummary[]> {
    await this.#searchAlone();
    await this.#searchTogether();
    return this.found;
  }

  /** Traces of which one part meets all conditions: every trace that is whole, as nearly all are. */
  async #searchAlone(): Promise<void> {
    const inTime = newestSourceFirst(this.sources).filter((source) => isInTime(source, this.search));
    await askEach(inTime, this.options, async (source) => {
      // All that come after it end before it.
      if (!this.isEnough(source.endUnixNs)) await this.#searchIn(source);
    });
  }

  /**
   * Traces whose parts meet the conditions together and none alone: one part is early and one late enough, or all of them last long enough,
   * and one has the span. Which traces have parts elsewhere, the filters of the sources tell, and the traces themselves.
   */
  async #searchTogether(): Promise<void> {
    const { fromUnixNs, toUnixNs, minDurationNs } = this.search;
    if (fromUnixNs === undefined && toUnixNs === undefined && minDurationNs === undefined) return;
    if (this.sources.length < 2) return;
    const meaning: TraceSource[] = [];
    for (const source of this.sources) if (await source.mayMean(this.search)) meaning.push(source);
    if (meaning.length === 0) return;
    await askEach(newestSourceFirst(this.#partsToList()), this.options, async (source) => {
      if (this.isEnough(source.endUnixNs)) return;
      const others = (meaning.includes(source) ? this.sources : meaning).filter((other) => other !== source);
      await source.eachId(this.#rangeToList(), async (ids) => {
        checkSignal('the archive', this.options);
        await this.#decide(ids, others);
      });
    });
  }

  /**
   * Sources of which every trace that is meant has a part: those with a part that is over late enough, or with one that begins early enough,
   * whichever are fewer.
   */
  #partsToList(): readonly TraceSource[] {
    const { fromUnixNs = 0n, toUnixNs } = this.search;
    const sources = this.sources.filter(({ endUnixNs }) => !this.isEnough(endUnixNs));
    const late = sources.filter(({ endUnixNs }) => endUnixNs >= fromUnixNs);
    const early = toUnixNs === undefined ? sources : sources.filter(({ startUnixNs }) => startUnixNs <= toUnixNs);
    this.#listsEarly = early.length < late.length;
    return this.#listsEarly ? early : late;
  }

  #rangeToList(): TimeRange {
    const { fromUnixNs, toUnixNs } = this.search;
    const startsFromUnixNs = this.last?.startUnixNs;
    return { startsFromUnixNs, ...(this.#listsEarly ? { toUnixNs } : { fromUnixNs }) };
  }

  /** Of traces with a part in one source, take those that have parts in `others` too, and meet all conditions as a whole. */
  async #decide(ids: readonly string[], others: readonly TraceSource[]): Promise<void> {
    for (let start = 0; start < ids.length; start += DECIDED_TRACES) {
      const fresh = ids.slice(start, start + DECIDED_TRACES).filter((id) => !this.isKnown(id));
      const split = await presentIn(others, fresh, this.options);
      if (split.length === 0) continue;
      const traces = await tracesFrom(this.sources, split, this.options);
      // Another source may have come to one meanwhile.
      const own = this.fresh([...traces].map(([traceId, spans]) => ({ traceId, spans })));
      this.add(own.flatMap(({ spans }) => this.ifMeant(spans)));
    }
  }

  /** A source gives its newest; more of them, as long as some turn out not to be meant or to be older as a whole. */
  async #searchIn(source: TraceSource): Promise<void> {
    for (let { limit } = this.search; ; limit *= 4) {
      const startsFromUnixNs = this.last?.startUnixNs;
      const summaries = await source.summaries({ ...this.search, limit, startsFromUnixNs });
      this.add(await this.#complete(this.fresh(summaries), source));
      if (this.isOut(summaries, limit)) return;
    }
  }

  /** Traces found in one source with what the others have of them, as far as they are meant then. */
  async #complete(summaries: readonly TraceSummary[], source: TraceSource): Promise<TraceSummary[]> {
    const ids = summaries.map(({ traceId }) => traceId);
    const others = this.sources.filter((other) => other !== source);
    const elsewhere = await presentIn(others, ids, this.options);
    if (elsewhere.length === 0) return [...summaries];
    const split = await tracesFrom(this.sources, elsewhere, this.options);
    return summaries.flatMap((summary) => {
      const spans = split.get(summary.traceId);
      return spans === undefined ? [summary] : this.ifMeant(spans);
    });
  }
}
