// Profiles that somebody outside begins and ends with a signal. Must not be on unless it was asked for: a handler changes what the
// signal does to the process.

import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { type RunningProfile, type SamplingOptions, startProfile } from '../profile.js';
import { wrongOption } from '../profile-error.js';
import { checkSink, ProfileDelivery, type ProfileSink } from './profile-sink.js';

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
  /** Dropped because the sink still had as many as may wait. */
  readonly dropped: number;
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

/** Those that a process is not told of, and V8's own. */
const UNUSABLE: ReadonlySet<string> = new Set(['SIGKILL', 'SIGSTOP', 'SIGPROF']);

const checkSignal = (signal: string, sink: unknown): void => {
  if (!isMainThread) throw wrongOption('signals reach the main thread only; call profileOnSignal there');
  if (!Object.hasOwn(constants.signals, signal) || UNUSABLE.has(signal)) {
    throw wrongOption(`signal is ${String(signal)}; give one that a program may handle, such as SIGUSR2`);
  }
  checkSink(sink);
};

/**
 * Begin a profile at a signal and end it at the next, as often as wanted.
 *
 * For a service that is to be profiled when it misbehaves: `kill -USR2 PID`. Errors are counted in `stats()`, for nobody waits for a
 * signal. Throws `ERR_SPANLINE_PROFILE_OPTION`, also in a worker, which no signal reaches.
 *
 * @example
 * ```ts
 * import { tmpdir } from 'node:os';
 * import { directorySink, profileOnSignal } from '@spanline/profile';
 * const onSignal = profileOnSignal({ sink: directorySink({ dir: tmpdir() }) });
 * await onSignal.stop();
 * ```
 */
export const profileOnSignal = ({ signal = 'SIGUSR2', sink, ...options }: SignalOptions): SignalProfiler => {
  checkSignal(signal, sink);
  const delivery = new ProfileDelivery(sink);
  let running: RunningProfile | undefined;
  let failures = 0;
  let lastError: unknown;
  let last: Promise<void> = Promise.resolve();

  const end = (): void => {
    const ending = running;
    running = undefined;
    if (ending !== undefined) delivery.give(ending.stop());
  };
  // One after the other: a signal that comes while a profile begins ends it. None waits for the sink, or the signals of a person would
  // wait with it.
  const next = (step: () => void | Promise<void>): Promise<void> => {
    last = last.then(step).catch((error: unknown) => {
      failures++;
      lastError = error;
    });
    return last;
  };
  const toggle = async (): Promise<void> => {
    let isEnd = false;
    await next(async () => {
      isEnd = running !== undefined;
      if (isEnd) end();
      else running = await startProfile(options);
    });
    if (isEnd) await delivery.settled();
  };
  const onSignal = (): void => void toggle();
  process.on(signal, onSignal);
  return {
    toggle,
    stop: async () => {
      process.off(signal, onSignal);
      await next(end);
      await delivery.settled();
    },
    stats: () => {
      const { profiles, dropped, sinkErrors, lastSinkError } = delivery;
      return {
        isRunning: running !== undefined,
        profiles,
        dropped,
        failures: failures + sinkErrors,
        lastError: lastSinkError ?? lastError,
      };
    },
  };
};
