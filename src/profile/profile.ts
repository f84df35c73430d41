// Profiles on demand: profile() for a time, startProfile() until it is stopped. Checks what the caller asked for; the work is done
// by Recording.
import { state } from '../local-span/process-state.js';
import { chooseCarrier } from './choose-carrier.js';
import type { Carrier, LabelledProfile } from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';
import { ProfileError } from './profile-error.js';
import { Recording } from './recording.js';

/** How samples are taken and labelled. */
export interface SamplingOptions {
  /** Milliseconds between samples, 0.05 to 1000. Default 1 on demand, 10 when continuous. */
  readonly everyMs?: number;
  /** How labels reach the samples. Default `auto`: the register where its addon works, else trampolines. */
  readonly carrier?: Carrier | 'auto';
  /** Keep labels across awaits, for tens of nanoseconds an await. Default true. */
  readonly continuations?: boolean;
  /** Give samples the labels `trace_id` and `span_id` of the span they worked for. Default: whether tracing is switched on. */
  readonly spans?: boolean;
  /** Most CPU time of the thread the profile may cost, in percent of one core. Default: no bound on demand, 2 when continuous. */
  readonly budgetPercent?: number;
}

export interface ProfileOptions extends SamplingOptions {
  /** Length in milliseconds, up to an hour. Default 10,000. */
  readonly durationMs?: number;
  /** Ends the profile before its time; what was sampled is given. */
  readonly signal?: AbortSignal;
}

/** A profile under way. */
export interface RunningProfile {
  readonly carrier: Carrier;
  /** What it cost this thread so far, in percent of one core: an estimate. */
  costPercent(): number;
  /** End it. Only the first call gives the profile; it throws when the inspector does. */
  stop(): LabelledProfile;
}

const DEFAULT_MS = 10_000;
const LONGEST_MS = 3_600_000;
const MOST_SAMPLES = 2_000_000;
const DRAIN_MS = 1000;
const US_PER_MS = 1000;
const NS_PER_MS = 1_000_000;

export const checkRange = (name: string, value: number, low: number, high: number): number => {
  if (typeof value === 'number' && value >= low && value <= high) return value;
  throw new ProfileError('ERR_SPANLINE_PROFILE_OPTION', `${name} is ${String(value)}; give ${low} to ${high}`);
};

const CARRIERS: readonly string[] = ['auto', 'register', 'trampoline', 'both'];

/** The recording that these options ask for. Not begun. */
export const openRecording = async (options: SamplingOptions, defaultEveryMs: number): Promise<OpenRecording> => {
  const { everyMs = defaultEveryMs, carrier = 'auto', continuations = true, spans = state.enabled } = options;
  checkRange('everyMs', everyMs, 0.05, 1000);
  if (!CARRIERS.includes(carrier)) {
    throw new ProfileError(
      'ERR_SPANLINE_PROFILE_OPTION',
      `carrier is ${String(carrier)}; give one of ${CARRIERS.join(', ')}`,
    );
  }
  const chosen = await chooseCarrier(carrier);
  const intervalUs = Math.round(everyMs * US_PER_MS);
  const recording = await Recording.open({
    ...chosen,
    intervalUs,
    followsContinuations: continuations,
    labelsSpans: spans,
  });
  return { recording, carrier: chosen.carrier };
};

export interface OpenRecording {
  readonly recording: Recording;
  readonly carrier: Carrier;
}

/**
 * Begin a profile of this thread; it runs until `stop()`.
 *
 * For a stretch of work that you can see the ends of. The first profile of a thread tests the carrier, which takes a tenth of a
 * second of work. Throws `ERR_SPANLINE_PROFILE_*`.
 *
 * @example
 * ```ts
 * import { DynamicLabel, startProfile } from 'spanline/profile';
 * const running = await startProfile({ everyMs: 1 });
 * new DynamicLabel('query', 'q1').apply(() => JSON.stringify(Array.from({ length: 1e5 })));
 * const profile = running.stop();
 * console.assert(profile.counts.total >= profile.counts.labelled);
 * ```
 */
export const startProfile = async (options: SamplingOptions = {}): Promise<RunningProfile> => {
  const { recording, carrier } = await openRecording(options, 1);
  const startedMs = performance.now();
  try {
    recording.begin();
  } catch (error) {
    recording.close();
    throw error;
  }
  const drain = setInterval(() => recording.tidy(), DRAIN_MS);
  drain.unref();
  let isOver = false;
  return {
    carrier,
    costPercent: () => {
      const ms = performance.now() - startedMs;
      return (recording.costNs(ms) / (ms * NS_PER_MS)) * 100;
    },
    stop: () => {
      if (isOver)
        throw new ProfileError('ERR_SPANLINE_PROFILE_OPTION', 'this profile was stopped before; start another');
      isOver = true;
      clearInterval(drain);
      try {
        return recording.end();
      } finally {
        recording.close();
      }
    },
  };
};

/**
 * Profile this thread for some time.
 *
 * Other code runs meanwhile: that is what is profiled. Throws `ERR_SPANLINE_PROFILE_*`.
 *
 * @example
 * ```ts
 * import { profile } from 'spanline/profile';
 * const { counts, labels } = await profile({ durationMs: 50 });
 * console.assert(counts.total > 0 && labels.length >= 3);
 * ```
 */
export const profile = async (options: ProfileOptions = {}): Promise<LabelledProfile> => {
  const { durationMs = DEFAULT_MS, signal, budgetPercent, everyMs = 1 } = options;
  checkRange('durationMs', durationMs, 1, LONGEST_MS);
  if (budgetPercent !== undefined) checkRange('budgetPercent', budgetPercent, 0.01, 100);
  if (durationMs / everyMs > MOST_SAMPLES) {
    throw new ProfileError(
      'ERR_SPANLINE_PROFILE_OPTION',
      `durationMs ${durationMs} at everyMs ${everyMs} is more than ${MOST_SAMPLES} samples; profile less or less often`,
    );
  }
  if (signal?.aborted) {
    throw new ProfileError('ERR_SPANLINE_PROFILE_ABORTED', 'the signal had fired before the profile began', {
      cause: signal.reason,
    });
  }
  const running = await startProfile(options);
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      clearInterval(guard);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, durationMs);
    const guard = setInterval(() => {
      if (budgetPercent === undefined || running.costPercent() <= budgetPercent) return;
      count(Counter.budgetStops);
      finish();
    }, DRAIN_MS);
    signal?.addEventListener('abort', finish);
    // Between the check above and here the self-test ran.
    if (signal?.aborted) finish();
  });
  return running.stop();
};
