// What every ingest format becomes: a commit, its id and times checked, with its measurements. It must never hold a value the store cannot keep:
// params are cleaned, values are finite, times are whole milliseconds. A time that is not sure must never be guessed: timestamps decide which
// measurement wins. Two series of a commit must never share cleaned params: one would silently overwrite the other. Files have the same few series in
// every commit, so each is cleaned once, up to a bound.
import { orThrow } from 'spanline/internal/base';
import { DIRECTION_PARAM, type Direction, declaredDirection, directionOf, unitOfParams } from '../detect/direction.js';
import { type CleaningRule, forceValid, type Params, structuredKeyOf } from '../params/param-text.js';
import { MAX_TIMESTAMP_MS } from '../table/checked-table.js';
import { badFile, integer, quoted, shown } from './shape.js';

/** Series remembered; those that come later are cleaned every time. */
const MAX_SERIES_REMEMBERED = 10_000;

/** A series as the store will know it. Shared between commits, so frozen. */
interface CleanedSeries {
  readonly params: Params;
  /** The structured key of the params. */
  readonly id: string;
  /** The params as they are in the file; absent where cleaning changed nothing. */
  readonly original?: Params;
}

/** Whether both have the same keys with the same values. */
const sameParams = (a: Params, b: Params): boolean => {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
};

const directionOfParams = (params: Params): Direction =>
  directionOf(unitOfParams(params), {}, declaredDirection(params));

/** Cleans the series of one file by one rule. */
export class SeriesCleaner {
  readonly #rule: CleaningRule | undefined;
  // By the text of the params in the order they come, which is cheaper to make than an id.
  readonly #known = new Map<string, CleanedSeries>();

  constructor(rule: CleaningRule | undefined) {
    this.#rule = rule;
  }

  /** Throws with `at` and `path` when the params cannot be those of a trace. */
  clean(at: string, path: string, original: Params): CleanedSeries {
    const text = JSON.stringify(original);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const series = this.#cleaned(at, path, original);
    if (this.#known.size < MAX_SERIES_REMEMBERED) this.#known.set(text, series);
    return series;
  }

  #cleaned(at: string, path: string, original: Params): CleanedSeries {
    // An `object[key] = value` of anyone who reads it would lose this one.
    if (Object.hasOwn(original, '__proto__')) throw badFile(at, path, 'has a param named "__proto__"; rename it');
    let params = orThrow(
      () => Object.freeze(forceValid(original, this.#rule)),
      (cause) => badFile(at, path, `has params that cannot be used: ${cause.message}`, cause),
    );
    const direction = directionOfParams(original);
    // Cleaning makes `%` and `#` one unit: which way is better is looked up before.
    if (directionOfParams(params) !== direction) params = Object.freeze({ ...params, [DIRECTION_PARAM]: direction });
    const id = structuredKeyOf(params);
    return sameParams(params, original) ? { params, id } : { params, id, original: Object.freeze(original) };
  }
}

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

/** Milliseconds since 1970. */
export const TIME_MS = integer({ min: 0, max: MAX_TIMESTAMP_MS });

const MAX_COMMIT_LENGTH = 256;
const COMMIT = /^[\x21-\x7e]+$/;

// RFC 3339, and the form with a space that git prints.
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?) ?(Z|[+-]\d{2}:?\d{2})$/i;

/** The id of a commit, or an error: 1 to 256 visible characters of ASCII. */
export const checkedCommit = (at: string, path: string, commit: string): string => {
  if (commit.length <= MAX_COMMIT_LENGTH && COMMIT.test(commit)) return commit;
  throw badFile(at, path, `must be the id of a commit: 1 to 256 visible characters of ASCII, got ${shown(commit)}`);
};

/** Milliseconds of a time in RFC 3339 form, or an error. */
export const parsedTime = (at: string, path: string, text: string): number => {
  const [, date, time, zone] = TIME.exec(text) ?? [];
  const offset = zone?.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone?.toUpperCase();
  const ms = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${offset}`);
  if (ms >= 0 && ms <= MAX_TIMESTAMP_MS) return Math.floor(ms);
  throw badFile(at, path, `must be a time such as 2023-10-01T22:00:15+02:00, got ${shown(text)}`);
};

/** Whole milliseconds since 1970 up to the year 9999, or an error. */
export const checkedTimeMs = (at: string, path: string, ms: number): number => {
  if (Number.isInteger(ms) && ms >= 0 && ms <= MAX_TIMESTAMP_MS) return ms;
  throw badFile(at, path, `must be whole milliseconds since 1970, up to the year 9999, got ${shown(ms)}`);
};

/** What stands for a missing value in files: 1e32 as a float32. */
const MISSING = Math.fround(1e32);

const pointOf = (
  { params, original }: CleanedSeries,
  value: number,
  links: Readonly<Record<string, string>> | undefined,
): IngestPoint => ({ params, value, ...(original && { original }), ...(links && { links }) });

/** What makes two series one, in words. */
const clash = (original: Params, { params, original: first = params }: CleanedSeries): string => {
  const key = Object.keys(original).find((name) => first[name] !== original[name]);
  if (key === undefined || first[key] === undefined) return 'has params that cleaning makes the same as others before';
  return `has ${quoted(key)} ${quoted(original[key])}, which cleaning makes the same as ${quoted(first[key])} before`;
};

/** The points of one commit, in the order their series first appear. */
export class PointList {
  readonly #at: string;
  readonly #cleaner: SeriesCleaner;
  readonly #points = new Map<string, { readonly series: CleanedSeries; readonly point: IngestPoint | undefined }>();

  /** `at` names the file, or file and line, in errors. */
  constructor(at: string, cleaner: SeriesCleaner) {
    this.#at = at;
    this.#cleaner = cleaner;
  }

  /**
   * Add one measurement; `path` is the JSON pointer to it. Where a file measures a series twice, the last one counts, also when
   * that is the mark of a missing value.
   */
  add(path: string, original: Params, value: number, links?: Readonly<Record<string, string>>): void {
    const series = this.#cleaner.clean(this.#at, path, original);
    const other = this.#points.get(series.id)?.series;
    if (other !== undefined && !sameParams(original, other.original ?? other.params)) {
      throw badFile(this.#at, path, `${clash(original, other)}; rename one, or allow more characters`);
    }
    const stored = Math.fround(value);
    if (!Number.isFinite(stored)) throw badFile(this.#at, path, `has the value ${value}, which no float32 can hold`);
    this.#points.set(series.id, { series, point: stored === MISSING ? undefined : pointOf(series, value, links) });
  }

  get points(): readonly IngestPoint[] {
    const points: IngestPoint[] = [];
    for (const { point } of this.#points.values()) if (point !== undefined) points.push(point);
    return points;
  }
}
