// A tile as readers get it: traces, each with one digest a commit. It is put together from the cells of several stored tiles, in
// which one trace has different encoded ids; here it has its one name.
import { ParamSet } from '../params/param-set.js';
import type { Params } from '../params/param-text.js';
import { MISSING_DIGEST } from './values.js';

/** One trace in the commits of a tile. */
export interface GoldTrace {
  /** `,key=value,...,` of its params, sorted by key. */
  readonly id: string;
  readonly params: Params;
  /** The latest options put with it in the newest of the stored tiles that were read; empty when there are none. */
  readonly options: Params;
  /** One a commit of the tile, '' where it has none. */
  readonly digests: readonly string[];
}

/** Traces that have a digest in at least one of the commits, sorted by id. */
export interface GoldTile {
  /** Commit numbers, ascending. */
  readonly commits: readonly number[];
  readonly traces: readonly GoldTrace[];
  /** Keys and values of the params and options of these traces. */
  readonly paramSet: ParamSet;
  /** True when it is certain that no commit before the first one here has a digest. */
  readonly isFromStart: boolean;
}

/** Some cells of one trace: `digests[i]` is that at `commits[i]`, in no order; none is missing. */
export interface TraceFragment {
  readonly id: string;
  readonly params: Params;
  readonly commits: readonly number[];
  readonly digests: readonly string[];
}

/** What queries and ignore rules look at: params and options of a trace; a param wins over an option of the same key. */
export const searchedParams = ({ params, options }: GoldTrace): Params => ({ ...options, ...params });

const NO_OPTIONS: Params = Object.freeze({});

/** Gathers what was read and makes the tile of it. Stored tiles must come newest first. */
export class GoldTileBuilder {
  readonly #traces = new Map<string, { params: Params; commits: number[]; digests: string[] }>();
  readonly #options = new Map<string, Params>();
  readonly #commits = new Set<number>();

  /** Commits of which at least one trace has a digest, ascending. */
  get commits(): number[] {
    return [...this.#commits].sort((a, b) => a - b);
  }

  /** How many of them. */
  get commitCount(): number {
    return this.#commits.size;
  }

  add({ id, params, commits, digests }: TraceFragment): void {
    let trace = this.#traces.get(id);
    if (trace === undefined) {
      trace = { params, commits: [], digests: [] };
      this.#traces.set(id, trace);
    }
    for (const [i, commit] of commits.entries()) {
      trace.commits.push(commit);
      trace.digests.push(digests[i]);
      this.#commits.add(commit);
    }
  }

  /** Those of a newer tile stay. */
  addOptions(id: string, options: Params): void {
    if (!this.#options.has(id)) this.#options.set(id, options);
  }

  /** The tile of these commits, ascending; what was added of others is left out. */
  build(commits: readonly number[], isFromStart: boolean): GoldTile {
    const places = new Map(commits.map((commit, i) => [commit, i]));
    const traces: GoldTrace[] = [];
    const paramSet = new ParamSet();
    for (const [id, cells] of this.#traces) {
      // Gone from here at once: the cells and the trace made of them should not all be in memory together.
      this.#traces.delete(id);
      const digests = new Array<string>(commits.length).fill(MISSING_DIGEST);
      let isEmpty = true;
      for (const [i, commit] of cells.commits.entries()) {
        const place = places.get(commit);
        if (place === undefined) continue;
        digests[place] = cells.digests[i];
        isEmpty = false;
      }
      if (isEmpty) continue;
      const trace = { id, params: cells.params, options: this.#options.get(id) ?? NO_OPTIONS, digests };
      paramSet.add(searchedParams(trace));
      traces.push(trace);
    }
    traces.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { commits, traces, paramSet, isFromStart };
  }
}
