// Cleans the params of a file's series, each once: files have the same few series in every commit. It must never remember more
// than its bound, or a file with a new series in every line would fill the memory.
import { DIRECTION_PARAM, type Direction, declaredDirection, directionOf, unitOfParams } from '../detect/direction.js';
import { type CleaningRule, forceValid, type Params } from '../params/param-text.js';
import { structuredKeyOf } from '../params/structured-key.js';
import { badFile } from './bad-file.js';

/** Series remembered; those that come later are cleaned every time. */
const MAX_SERIES_REMEMBERED = 10_000;

/** A series as the store will know it. Shared between commits, so frozen. */
export interface CleanedSeries {
  readonly params: Params;
  /** The structured key of the params. */
  readonly id: string;
  /** The params as they are in the file; absent where cleaning changed nothing. */
  readonly original?: Params;
}

/** Whether both have the same keys with the same values. */
export const sameParams = (a: Params, b: Params): boolean => {
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
    let params: Params;
    try {
      params = Object.freeze(forceValid(original, this.#rule));
    } catch (cause) {
      throw badFile(at, path, `has params that cannot be used: ${(cause as Error).message}`, cause);
    }
    const direction = directionOfParams(original);
    // Cleaning makes `%` and `#` one unit: which way is better is looked up before.
    if (directionOfParams(params) !== direction) params = Object.freeze({ ...params, [DIRECTION_PARAM]: direction });
    const id = structuredKeyOf(params);
    return sameParams(params, original) ? { params, id } : { params, id, original: Object.freeze(original) };
  }
}
