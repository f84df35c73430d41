// What every sink of profiles is, a function that counts what became of the profiles it took; and the one that calls a function of the
// user's.
import type { LabelledProfile } from '../labelled-profile.js';
import type { ProfileSink } from '../profile-delivery.js';

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
