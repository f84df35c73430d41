// What every ingest format becomes: a commit with its measurements. It must never hold a value the store cannot keep: params are
// cleaned, values are finite, times are whole milliseconds.
import type { Params } from '../params/param-text.js';
import type { SeriesCleaner } from './series-cleaner.js';

/** One measurement: `value` of the series `params`. */
export interface IngestPoint {
  /** Cleaned: every key and value passes the cleaning rule of the instance. */
  readonly params: Params;
  /** Finite, and within float32, which is what the store keeps. */
  readonly value: number;
  /** The params as the file has them; absent where cleaning changed nothing. */
  readonly original?: Params;
  /** Where to read more of this measurement: title to URL. The URLs are the file's: check them before making them clickable. */
  readonly links?: Readonly<Record<string, string>>;
}

/**
 * The measurements that one entry of an ingest file has of one commit.
 *
 * @example
 * ```ts
 * import type { IngestCommit } from '@spanline/tracedb';
 * const measured: IngestCommit = {
 *   commit: '868f75e448c7c3a0efd75d72c448269f1375a996',
 *   timestampMs: Date.parse('2023-10-01T22:00:15+02:00'),
 *   measuredMs: 1696190499861,
 *   source: 'data.js#Benchmark@868f75e448c7c3a0efd75d72c448269f1375a996/1696190499861',
 *   points: [{ params: { suite: 'Benchmark', test: 'encode', unit: 'ops_sec' }, value: 774752 }],
 * };
 * console.assert(measured.points.length === 1);
 * ```
 */
export interface IngestCommit {
  /** Git hash, or another id without white space. */
  readonly commit: string;
  /** When the commit was made, in milliseconds since 1970; absent where the format has no such time. */
  readonly timestampMs?: number;
  /** When it was measured, in milliseconds since 1970: the timestamp of the cells, by which a later measurement wins. */
  readonly measuredMs: number;
  /** Name of the file, and of the entry where a file has several: the same for the same entry however the file grows. */
  readonly source: string;
  /** No two with the same params. */
  readonly points: readonly IngestPoint[];
  /** Where to read more of this run or commit: title to URL. */
  readonly links?: Readonly<Record<string, string>>;
}

/** The file as its parser sees it. */
export interface IngestContext {
  /** Name of the file, for errors and sources. */
  readonly name: string;
  readonly cleaner: SeriesCleaner;
  /** Id of the measured commit, for formats that do not say it; another one in the file is an error. */
  readonly commit?: string;
  /** When the commit was made, in milliseconds since 1970, for formats that do not say it. */
  readonly commitMs?: number;
  /** When it was measured, in milliseconds since 1970, for formats that do not say it: as given, else when the file was written. */
  measuredMs(): number;
}
