// The maintenance of an archive in a bucket: uploads are folded into the catalogue, small segments merged, old ones retired, and what is dead deleted. Any
// number of processes may do it at the same time, each may be paused or killed at any moment: all changes are commits that the next one has seen, and what
// is left behind is found by the next look. One part that fails must not keep the others from being done.
import { badOptions } from '@spanline/graph/internal';
import { abortedBy, timers, wholeNumber } from 'spanline/internal/base';
import type { DamagedSegment, Retention } from '../archive-options.js';
import { newId } from '../directory.js';
import { ALL_MERGES, BACKGROUND_MERGES } from '../merge-plan.js';
import { abortedBucket } from './bucket-error.js';
import {
  MAINTAIN_DEFAULTS,
  type MaintainBounds,
  type MaintainOptions,
  type MaintainStats,
  newCounts,
} from './bucket-options.js';
import { Catalogue } from './catalogue.js';
import { type CleaningUp, declareOrphans, deleteDead, retire } from './clean-up.js';
import { needConditionalWrites } from './conditional-writes.js';
import { foldUploads } from './fold-uploads.js';
import { mergeCards } from './merge-cards.js';
import type { ObjectStore } from './object-store.js';

/** Between two looks for what nobody names, which lists all there is. */
const ORPHANS_EVERY_MS = 3_600_000;
/** Between two looks, in the background. */
const EVERY_MS = 30_000;

const boundsOf = (options: MaintainOptions): MaintainBounds => {
  const numberOf = (name: keyof typeof MAINTAIN_DEFAULTS): number =>
    wholeNumber(name, options[name] ?? MAINTAIN_DEFAULTS[name], [0], badOptions);
  return {
    ...options,
    graceMs: numberOf('graceMs'),
    orphanMs: numberOf('orphanMs'),
    lateMs: numberOf('lateMs'),
    mergedSpans: numberOf('mergedSpans'),
  };
};

/** One pass. */
export interface PassOptions {
  /** Merge whatever can be merged, and look for what nobody names. Default false: as it is done in the background. */
  readonly all?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Maintains one archive. */
export class BucketMaintainer {
  readonly #store: ObjectStore;
  readonly #catalogue: Catalogue;
  readonly #bounds: MaintainBounds;
  readonly #counts = newCounts();
  readonly #id = newId();
  readonly #damaged = new Map<string, DamagedSegment>();
  readonly #ending = new AbortController();
  #isProbed = false;
  #orphansAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<unknown> = Promise.resolve();

  /** Nothing is asked yet. */
  constructor(store: ObjectStore, options: MaintainOptions = {}) {
    this.#store = store;
    this.#catalogue = new Catalogue(store);
    this.#bounds = boundsOf(options);
  }

  stats(): MaintainStats {
    return { ...this.#counts, ...this.#catalogue.stats(), damaged: [...this.#damaged.values()] };
  }

  /** Do all that is to be done now. Rejects with the first failure, when the other parts are done. */
  pass({ all = false, signal }: PassOptions = {}): Promise<void> {
    return this.#alone(async () => {
      const work = this.#work(signal);
      const { number } = await this.#counted(async () => {
        await this.#probe(work.signal);
        return this.#catalogue.read(work);
      });
      const merging = {
        ...{ ...work, damaged: this.#damaged, id: this.#id, insists: all },
        policy: all ? ALL_MERGES : BACKGROUND_MERGES,
      };
      const isTime = all || timers.monotonicMs() - this.#orphansAt > ORPHANS_EVERY_MS;
      await this.#parts([
        () => foldUploads(merging),
        () => mergeCards(merging),
        () => retire(work, this.#bounds),
        async () => {
          if (!isTime) return;
          await declareOrphans(work);
          this.#orphansAt = timers.monotonicMs();
        },
        () => deleteDead(work, number),
      ]);
      this.#counts.passes++;
    });
  }

  /** Declare dead what is older or more than `limits` allow; it is deleted when the grace is over, by whoever maintains then. */
  retain(limits: Retention, signal?: AbortSignal): Promise<void> {
    return this.#alone(async () => {
      const work = this.#work(signal);
      await this.#probe(work.signal);
      await this.#catalogue.read(work);
      await retire(work, limits);
    });
  }

  /** Do a pass now and again, until `stop`; what fails is counted, and tried the next time. */
  start(everyMs = EVERY_MS): void {
    const { onPass = () => {} } = this.#bounds;
    const next = (): void => {
      if (this.#ending.signal.aborted) return;
      this.pass()
        .then(
          () => onPass(undefined),
          (error: unknown) => {
            if (!this.#ending.signal.aborted) onPass(String(error));
          },
        )
        .finally(() => {
          if (!this.#ending.signal.aborted) this.#timer = timers.setTimeout(next, everyMs).unref();
        });
    };
    next();
  }

  /** Abort the pass that runs, and wait for its end. */
  async stop(): Promise<void> {
    timers.clearTimeout(this.#timer);
    this.#ending.abort();
    await this.#running.catch(() => {});
  }

  #work(signal: AbortSignal | undefined): CleaningUp {
    const ending = this.#ending.signal;
    return {
      store: this.#store,
      catalogue: this.#catalogue,
      bounds: this.#bounds,
      counts: this.#counts,
      signal: signal === undefined ? ending : AbortSignal.any([signal, ending]),
    };
  }

  async #probe(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isProbed) return;
    await needConditionalWrites(this.#store, signal);
    this.#isProbed = true;
  }

  /** All parts, one behind the other. */
  async #parts(parts: readonly (() => Promise<void>)[]): Promise<void> {
    const failures: unknown[] = [];
    for (const part of parts) {
      if (this.#ending.signal.aborted) throw abortedBy(this.#ending.signal, 'maintenance', abortedBucket);
      try {
        await this.#counted(part);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async #counted<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#counts.failures++;
      this.#counts.lastFailure = String(error);
      throw error;
    }
  }

  #alone(work: () => Promise<void>): Promise<void> {
    const running = this.#running.catch(() => {}).then(work);
    this.#running = running;
    return running;
  }
}
