// What every sink of profiles is: a function that takes a profile, with counters of what became of it.
import type { LabelledProfile } from '../labelled-profile.js';

/** A sink for `continuousProfiler()`; rejects when a profile could not be given away, and counts it. */
export interface CountingSink<S> {
  (profile: LabelledProfile): Promise<void>;
  stats(): S;
}

export const countingSink = <S>(take: (profile: LabelledProfile) => Promise<void>, stats: () => S): CountingSink<S> =>
  Object.assign(take, { stats });
