// What the endpoints of Golden answer. Types only: the page reads them too, so nothing of Node may be imported here.

/** What is thought of a digest. */
export type Status = 'untriaged' | 'positive' | 'negative';

/** Hash and time of commits, by number, where the store knows them. */
export type KnownCommits = Readonly<
  Record<number, { readonly hash: string /** Unix milliseconds. */; readonly timestampMs?: number }>
>;

/** A digest of a test that a search found. */
export interface FoundDigest {
  readonly test: string;
  readonly digest: string;
  readonly status: Status;
  readonly traces: number;
  readonly firstCommit: number;
  readonly lastCommit: number;
  /** Commits that may have brought it; empty for a triaged one, and when it may be older than what was read. */
  readonly suspects: readonly number[];
  /** Params and options of its traces. */
  readonly params: Readonly<Record<string, readonly string[]>>;
}

/** A digest to hold another against. */
export interface ReferenceDigest {
  readonly digest: string;
  readonly status: Status;
  /** What traces had before they took on the other; the closest of those that people said something of. */
  readonly roles: readonly ('before' | 'closest positive' | 'closest negative')[];
  /** What it is, where the store has a text. */
  readonly text?: string;
}

/** Answer of /ui/api/golden/digest. */
export interface DigestAnswer extends FoundDigest {
  readonly text?: string;
  readonly references: readonly ReferenceDigest[];
  readonly known: KnownCommits;
}

/** Answer of /ui/api/golden/search. */
export interface SearchAnswer {
  readonly known: KnownCommits;
  readonly results: readonly FoundDigest[];
  /** Of all pages. */
  readonly total: number;
  readonly totals: Readonly<Record<Status, number>>;
  readonly ignoredTraces: number;
  /** Why nothing can meet the query. */
  readonly reason?: string;
}

/** Traces of a test that took on the same digest in place of the same other one. */
export interface ChangedDigest {
  readonly test: string;
  readonly digest: string;
  readonly status: Status;
  /** Absent for first results. */
  readonly before?: { readonly digest: string; readonly status: Status };
  readonly traces: number;
  /** The first commit that may have brought it. */
  readonly firstSuspect: number;
}

/** Answer of /ui/api/golden/changes: what changed at which commit, newest first. */
export interface ChangesAnswer {
  readonly known: KnownCommits;
  /** What to ask for as `last` to be told older ones; absent where there are none. */
  readonly older?: number;
  readonly commits: readonly { readonly commit: number; readonly changes: readonly ChangedDigest[] }[];
  /** Of these commits and of older ones that are not told. */
  readonly total: number;
  readonly totals: Readonly<Record<Status, number>>;
  readonly ignoredTraces: number;
  /** Why nothing can meet the query. */
  readonly reason?: string;
}

/** Answer of /ui/api/golden/history: what people said of a digest, newest first. */
export type HistoryAnswer = readonly {
  readonly from: Status;
  readonly to: Status;
  readonly by: string;
  readonly atMs: number;
  readonly note?: string;
}[];

/** Answer of /ui/api/golden/ignores. */
export type IgnoresAnswer = readonly {
  readonly id: string;
  readonly query: string;
  readonly expiresMs: number;
  readonly note: string;
  readonly by: string;
}[];
