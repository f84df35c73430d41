// Profiles that somebody outside begins and ends with a signal. Must not be on unless it was asked for: a handler changes what the
// signal does to the process.

import type { ProfileSink } from '../continuous-profiler.js';
import { type RunningProfile, type SamplingOptions, startProfile } from '../profile.js';

export interface SignalOptions extends SamplingOptions {
  /** Default SIGUSR2. SIGUSR1 is Node's own. */
  readonly signal?: NodeJS.Signals;
  /** Takes each profile. */
  readonly sink: ProfileSink;
}

export interface SignalStats {
  readonly isRunning: boolean;
  /** Profiles that the sink took. */
  readonly profiles: number;
  /** Profiles that could not be begun, ended or given to the sink. */
  readonly failures: number;
  readonly lastError: unknown;
}

/** Handles the signal until it is stopped. */
export interface SignalProfiler {
  /** What a signal does: begin a profile, or end it and hand it over. Resolves when that is done. */
  toggle(): Promise<void>;
  /** Hand over a profile under way and let the signal be. */
  stop(): Promise<void>;
  stats(): SignalStats;
}

/**
 * Begin a profile at a signal and end it at the next, as often as wanted.
 *
 * For a service that is to be profiled when it misbehaves: `kill -USR2 PID`. Errors are counted in `stats()`, for nobody waits for a
 * signal. Main thread only.
 *
 * @example
 * ```ts
 * import { tmpdir } from 'node:os';
 * import { directorySink, profileOnSignal } from 'spanline/profile';
 * const onSignal = profileOnSignal({ sink: directorySink({ dir: tmpdir() }) });
 * await onSignal.stop();
 * ```
 */
export const profileOnSignal = ({ signal = 'SIGUSR2', sink, ...options }: SignalOptions): SignalProfiler => {
  let running: RunningProfile | undefined;
  let profiles = 0;
  let failures = 0;
  let lastError: unknown;
  let last: Promise<void> = Promise.resolve();

  const end = async (ending: RunningProfile): Promise<void> => {
    running = undefined;
    await sink(ending.stop());
    profiles++;
  };
  // One after the other: a signal that comes while a profile begins ends it.
  const next = (step: () => Promise<void>): Promise<void> => {
    last = last.then(step).catch((error: unknown) => {
      failures++;
      lastError = error;
    });
    return last;
  };
  const toggle = (): Promise<void> =>
    next(async () => {
      if (running !== undefined) await end(running);
      else running = await startProfile(options);
    });
  const onSignal = (): void => void toggle();
  process.on(signal, onSignal);
  return {
    toggle,
    stop: () => {
      process.off(signal, onSignal);
      return next(async () => {
        if (running !== undefined) await end(running);
      });
    },
    stats: () => ({ isRunning: running !== undefined, profiles, failures, lastError }),
  };
};
