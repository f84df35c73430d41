// What the endpoints of History answer. Types only: the page reads them too, so nothing of Node may be imported here.

/** What the parameter `source` of all endpoints of History says: a Perf store, or files of runs. */
export type SourceName = 'store' | 'files';

/** Answer of /ui/api/history/keys: what a query can be built of, and how many series the query selects. */
export interface KeysAnswer {
  /** The newest tile of a store, whose series and values these are; undefined in a store without values, and for files. */
  readonly tile?: number;
  readonly count: number;
  /** Where the query is empty: one that selects few series that belong together; '' where all are few. */
  readonly suggested?: string;
  readonly keys: readonly {
    readonly key: string;
    /** The first of them. */
    readonly values: readonly string[];
    /** All of them. */
    readonly total: number;
  }[];
}

/** Commits as columns. */
export interface CommitColumns {
  readonly numbers: readonly number[];
  readonly hashes: readonly string[];
  /** Unix milliseconds; null where nobody said. */
  readonly times: readonly (number | null)[];
}

/** A lasting change of a series, with what was said of it. */
export interface ChangeAnswer {
  readonly key: string;
  readonly unit: string;
  readonly kind: 'regression' | 'improvement' | 'changed';
  readonly commit: number;
  readonly hash: string;
  readonly lastBefore: number;
  readonly before: number;
  readonly after: number;
  /** (after - before) / |before|. */
  readonly change: number;
  readonly pValue: number;
  readonly status: 'untriaged' | 'positive' | 'negative';
  readonly by?: string;
  /** Unix milliseconds. */
  readonly atMs?: number;
  readonly note?: string;
}

/** Answer of /ui/api/history/series: the histories that a query selects. */
export interface SeriesAnswer {
  readonly commits: CommitColumns;
  readonly series: readonly {
    readonly key: string;
    readonly params: Readonly<Record<string, string>>;
    readonly unit: string;
    /** One a commit; null where it has none. */
    readonly values: readonly (number | null)[];
  }[];
  /** Series that the query selects beyond those sent. */
  readonly left: number;
  /** By commit, the largest first. */
  readonly changes: readonly ChangeAnswer[];
  /** Why there is nothing. */
  readonly reason?: string;
}

/** Answer of /ui/api/history/step: what lies between the last commit before a change and the first after it. */
export interface StepAnswer {
  /** Those after `from`, up to `to`. */
  readonly commits: CommitColumns;
  /** Commits beyond those sent. */
  readonly left: number;
  /** Series of the query with values at both, the largest change first. */
  readonly compared: readonly {
    readonly key: string;
    readonly unit: string;
    readonly before: number;
    readonly after: number;
    readonly change: number;
    readonly verdict: 'better' | 'worse' | 'changed' | 'same';
  }[];
  /** Series beyond those sent. */
  readonly comparedLeft: number;
}

/** Body of a POST to /ui/api/history/triage. */
export interface TriageBody {
  readonly commit: number;
  readonly key: string;
  readonly status: 'untriaged' | 'positive' | 'negative';
  readonly note?: string;
  /** Default: who runs the server. */
  readonly by?: string;
}
