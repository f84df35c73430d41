// Sinks of profiles: finished profiles on their way to one, one after the other, so that a sink need not fear itself; a sink that counts what became
// of the profiles it took; and one that calls a function of the user's. A sink that is slow or fails costs profiles, never memory and never the
// program.
import { within } from 'spanline/internal/base';
import type { LabelledProfile } from '../labelled-profile.js';
import { Counter, count } from '../profile-counters.js';
import { wrongOption } from '../profile-error.js';

/** Takes a finished profile. What it throws, or rejects with, is counted in `stats()`. */
export type ProfileSink = (profile: LabelledProfile) => void | Promise<void>;

/** Throws `ERR_SPANLINE_PROFILE_OPTION` for what is no sink. */
export const checkSink = (sink: unknown): void => {
  if (typeof sink !== 'function') throw wrongOption(`sink is ${typeof sink}; give a function that takes a profile`);
};

/** How long an end waits for the sink. */
export const DEFAULT_STOP_MS = 10_000;

/** Profiles that the sink may have at a time: one it works on and one that waits. */
const MAX_WAITING = 2;

export class ProfileDelivery {
  /** Taken by the sink. */
  profiles = 0;
  /** Given and not taken yet. */
  waiting = 0;
  dropped = 0;
  sinkErrors = 0;
  lastSinkError: unknown;
  readonly #sink: ProfileSink;
  #last: Promise<void> = Promise.resolve();

  constructor(sink: ProfileSink) {
    this.#sink = sink;
  }

  give(profile: LabelledProfile): void {
    if (this.waiting >= MAX_WAITING) {
      this.dropped++;
      count(Counter.profilesDropped);
      return;
    }
    this.waiting++;
    this.#last = this.#last.then(async () => {
      try {
        await this.#sink(profile);
        this.profiles++;
      } catch (error) {
        this.sinkErrors++;
        this.lastSinkError = error;
        count(Counter.sinkErrors);
      } finally {
        this.waiting--;
      }
    });
  }

  /** Resolves when the sink is done with all it was given so far, or after `maxMs`: a sink may hang, or wait for whoever waits for it. */
  settled(maxMs = DEFAULT_STOP_MS): Promise<void> {
    return within(maxMs, this.#last);
  }
}

/** A sink for `continuousProfiler()`; rejects when a profile could not be given away, and counts it. */
export interface CountingSink<S> {
  (profile: LabelledProfile): Promise<void>;
  stats(): S;
}

/** A sink that gives profiles to `take` and counts in `stats` which it took and which it failed on. */
export const countingSink = <S extends { profiles: number; failures: number }>(
  stats: S,
  take: ProfileSink,
): CountingSink<S> =>
  Object.assign(
    async (profile: LabelledProfile): Promise<void> => {
      try {
        await take(profile);
        stats.profiles++;
      } catch (error) {
        stats.failures++;
        throw error;
      }
    },
    { stats: () => ({ ...stats }) },
  );

export interface CallbackSinkStats {
  /** Profiles that the function took. */
  readonly profiles: number;
  /** Profiles that it threw at, or rejected. */
  readonly failures: number;
}

/**
 * A sink that calls `take` with every profile and counts what became of it.
 *
 * For a way out of one's own; what `take` throws goes on to the profiler, which counts it too.
 *
 * @example
 * ```ts
 * import { callbackSink, continuousProfiler, shares } from '@spanline/profile';
 * const sink = callbackSink((profile) => console.log(shares(profile, 'query')));
 * const profiler = await continuousProfiler({ sink });
 * await profiler.stop();
 * console.assert(sink.stats().profiles === 1);
 * ```
 */
export const callbackSink = (take: ProfileSink): CountingSink<CallbackSinkStats> =>
  countingSink({ profiles: 0, failures: 0 }, take);
