// A sink that is a function of the user's, with the counters that other sinks have.
import type { LabelledProfile } from '../labelled-profile.js';
import { type CountingSink, countingSink } from './counting-sink.js';

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
 * import { callbackSink, continuousProfiler, shares } from 'spanline/profile';
 * const sink = callbackSink((profile) => console.log(shares(profile, 'query')));
 * const profiler = await continuousProfiler({ sink });
 * await profiler.stop();
 * console.assert(sink.stats().profiles === 1);
 * ```
 */
export const callbackSink = (
  take: (profile: LabelledProfile) => void | Promise<void>,
): CountingSink<CallbackSinkStats> => {
  let profiles = 0;
  let failures = 0;
  return countingSink(
    async (profile) => {
      try {
        await take(profile);
        profiles++;
      } catch (error) {
        failures++;
        throw error;
      }
    },
    () => ({ profiles, failures }),
  );
};
