// stats(): what this room refused, lost or could not tell in this thread, and how labels travel here.
import { selfTestShares } from './choose-carrier.js';
import { type CounterName, readCounters } from './profile-counters.js';
import { loadSigprof } from './sigprof.js';

export interface ProfileStats {
  /** Share of samples with the right label that each carrier tried so far got in its self-test: `register`, `second-context`, `padded`. */
  readonly selfTest: Readonly<Record<string, number>>;
  /** Why the addon of the register is not used; empty when it can be. */
  readonly addonProblems: readonly string[];
  readonly counters: Readonly<Record<CounterName, number>>;
}

/**
 * Counters of this thread's labels and profiles.
 *
 * Look here when samples are without labels: every bound that was met is counted.
 *
 * @example
 * ```ts
 * import { stats } from '@spanline/profile';
 * console.assert(stats().counters.samplesLost === 0);
 * ```
 */
export const stats = (): ProfileStats => ({
  selfTest: selfTestShares(),
  addonProblems: loadSigprof().reasons,
  counters: readCounters(),
});
