// A search over many sources that are far away, of traces whose parts lie in several of them: one that has a span that is meant is a candidate, all its parts
// together say how long it may last, and only what then may be among the newest is read whole. The answer must be the one of `searchSources`, whatever the
// order in which reads end; of very many sources those far from the time searched are left out, and what was read too much for is reported.

import { askEach, newestSourceFirst, tracesFrom } from './ask-sources.js';
import { type LimitedSearch, Searching } from './searching.js';
import { joinedExtent, type TraceExtent } from './segment/find-traces.js';
import { isInTime, type TraceSummary } from './trace-search.js';
import { type AskOptions, type TraceSource, traceIdsOf } from './trace-source.js';

/** With so many sources all are looked at; with more those whose time is near the one searched. */
const ALL_SOURCES = 64;
/** Nearer than this: parts of one trace begin and end further apart only in traces of more than ten minutes. */
const NEAR_NS = 600_000_000_000n;
/** Sources asked at first, and twice as many each further time. */
const FIRST_SOURCES = 4;
/** Candidates asked for at first of a source; and where all parts of a trace decide whether it lasts long enough, which few do. */
const FIRST_CANDIDATES = 64;
const FIRST_UNDECIDED = 256;

/** Summaries of the traces that meet all conditions, the newest first. */
export const searchByParts = async (
  sources: readonly TraceSource[],
  search: LimitedSearch,
  options: AskOptions,
): Promise<readonly TraceSummary[]> => new PartSearching(sources, search, options).run();

class PartSearching extends Searching {
  /** The latest end of what was left out. */
  #leftOut: bigint | undefined;

  async run(): Promise<readonly TraceSummary[]> {
    const meaning: TraceSource[] = [];
    for (const source of this.sources)
      if (this.#isNear(source) && (await source.mayMean(this.search))) meaning.push(source);
    const ordered = newestSourceFirst(meaning);
    // Few at first: what they give may be enough.
    for (let start = 0, count = FIRST_SOURCES; start < ordered.length; count *= 2) {
      if (this.isEnough(ordered[start].endUnixNs)) break;
      // A rest that is no larger is not waited for.
      const end = ordered.length - start <= 2 * count ? ordered.length : start + count;
      await askEach(ordered.slice(start, end), this.options, (source) => this.#searchIn(source));
      start = end;
    }
    if (this.#leftOut !== undefined) this.options.onOver?.(this.#leftOut);
    return this.found;
  }

  #isNear({ startUnixNs, endUnixNs }: TraceSource): boolean {
    const near = { startUnixNs: startUnixNs - NEAR_NS, endUnixNs: endUnixNs + NEAR_NS };
    return this.sources.length <= ALL_SOURCES || isInTime(near, this.search);
  }

  /** Its candidates, the newest first, as long as newer ones may come of it. */
  async #searchIn(source: TraceSource): Promise<void> {
    const first = this.search.minDurationNs === undefined ? FIRST_CANDIDATES : FIRST_UNDECIDED;
    for (let limit = Math.max(first, this.search.limit); ; limit *= 4) {
      if (this.isEnough(source.endUnixNs)) return;
      if (this.options.isOver?.() === true) {
        if (this.#leftOut === undefined || source.endUnixNs > this.#leftOut) this.#leftOut = source.endUnixNs;
        return;
      }
      // What all parts together decide is asked of none.
      const wide = { fromUnixNs: undefined, toUnixNs: undefined, minDurationNs: undefined };
      const startsFromUnixNs = this.last?.startUnixNs;
      const parts = await source.summaries({ ...this.search, ...wide, limit, startsFromUnixNs });
      await this.#judge(this.fresh(parts), source);
      if (this.isOut(parts, limit)) return;
    }
  }

  /** Take those of some candidates, of which `source` has these parts, that are meant as a whole. */
  async #judge(parts: readonly TraceSummary[], source: TraceSource): Promise<void> {
    if (parts.length === 0) return;
    const extents = new Map<string, TraceExtent>(
      parts.map(({ traceId, startUnixNs, durationNs }) => [
        traceId,
        { startUnixNs, endUnixNs: startUnixNs + durationNs },
      ]),
    );
    const mayMeet = ({ traceId }: TraceSummary): boolean => this.#meetsMin(extents.get(traceId) as TraceExtent);
    // Further parts can make a trace longer, and nothing else: of one whose part is long enough they need not be known yet.
    const undecided = parts.filter((part) => !mayMeet(part));
    if (undecided.length > 0) {
      const ids = undecided.map(({ traceId }) => traceId);
      await this.#widen(extents, ids, source);
    }
    await this.#takeNewest(parts.filter(mayMeet));
  }

  /** Put what other sources than `source` have of some traces to what is known of them. */
  async #widen(extents: Map<string, TraceExtent>, ids: readonly string[], source: TraceSource): Promise<void> {
    const wanted = traceIdsOf(ids);
    const others = this.sources.filter((other) => other !== source);
    await askEach(others, this.options, async (other) => {
      const possible = await other.possible(wanted);
      if (possible.length === 0) return;
      for (const [id, extent] of await other.extents(possible)) {
        const known = extents.get(id);
        if (known !== undefined) extents.set(id, joinedExtent(known, extent));
      }
    });
  }

  /** Of traces, by parts of them, the newest first: none begins later than its part. */
  async #takeNewest(parts: readonly TraceSummary[]): Promise<void> {
    const { limit } = this.search;
    for (let start = 0; start < parts.length; start += limit) {
      const some = parts.slice(start, start + limit).filter(({ startUnixNs }) => !this.isEnough(startUnixNs));
      if (some.length === 0) return;
      const ids = some.map(({ traceId }) => traceId);
      const traces = await tracesFrom(this.sources, ids, this.options);
      this.add([...traces.values()].flatMap((spans) => this.ifMeant(spans)));
    }
  }

  /** Whether a stretch is long, late and early enough; all that is more of the same trace leaves that so. */
  #meetsMin({ startUnixNs, endUnixNs }: TraceExtent): boolean {
    const { minDurationNs } = this.search;
    if (!isInTime({ startUnixNs, endUnixNs }, this.search)) return false;
    return minDurationNs === undefined || endUnixNs - startUnixNs >= minDurationNs;
  }
}
