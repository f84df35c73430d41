// findRegressions for a server that answers others meanwhile: the event loop turns between two series, and the changes of values that were
// searched before are kept. It must never answer anything else than findRegressions does.
import { createHash } from 'node:crypto';
import { BoundedCache, Slices } from 'spanline/internal/base';
import type { ChangePoint, ChangePointOptions } from './e-divisive.js';
import {
  asRegressions,
  changesOf,
  checkSeries,
  inOrder,
  type Regression,
  type RegressionOptions,
  type Series,
  searchOf,
} from './regressions.js';
import type { Statistics } from './statistics.js';

/** Series whose changes are kept; most have a handful. */
const MAX_KEPT = 1000;

/** The changes of a series depend on its values and on how it is searched, and on nothing else. */
const contentOf = ({ values }: Series, search: ChangePointOptions): string =>
  createHash('sha256').update(JSON.stringify(search)).update(Float64Array.from(values)).digest('base64');

/** Searches series in slices. Make one for a server: what it keeps is keyed by content, so it may serve any store. */
export class RegressionSearch {
  readonly #known = new BoundedCache<string, readonly ChangePoint[]>(MAX_KEPT);
  #searched = 0;

  /** Series that were searched, and not found among those that are kept. */
  get searched(): number {
    return this.#searched;
  }

  /** As `findRegressions`; the event loop waits for no more than one series. Rejects with the reason of `signal` once it fires. */
  async find(
    series: readonly Series[],
    options: RegressionOptions,
    statistics: Statistics,
    signal?: AbortSignal,
  ): Promise<Regression[]> {
    const search = searchOf(options, series.length);
    const slices = new Slices();
    const found: Regression[] = [];
    for (const one of series) {
      if (slices.isPast) await slices.next();
      signal?.throwIfAborted();
      checkSeries(one);
      found.push(...asRegressions(one, this.#changesOf(one, search, statistics), options.directions, series.length));
    }
    return found.sort(inOrder);
  }

  #changesOf(one: Series, search: ChangePointOptions, statistics: Statistics): readonly ChangePoint[] {
    const content = contentOf(one, search);
    const known = this.#known.get(content);
    if (known !== undefined) return known;
    this.#searched++;
    const changes = changesOf(one, search, statistics);
    this.#known.set(content, changes);
    return changes;
  }
}
