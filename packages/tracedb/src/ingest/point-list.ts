// Gathers the points of one commit and decides about duplicates. Two series of a commit must never share cleaned params: one
// would silently overwrite the other.
import type { Params } from '../params/param-text.js';
import { badFile, quoted } from './bad-file.js';
import type { IngestPoint } from './ingest-commit.js';
import { type CleanedSeries, type SeriesCleaner, sameParams } from './series-cleaner.js';

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
