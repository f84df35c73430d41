// Profiles on demand: profile() for a time, startProfile() until it is stopped. Checks what the caller asked for; the work is done
// by Recording.
import { finiteNumber, onAbort, oneOf, timers } from 'spanline/internal/base';
import { state } from 'spanline/internal/rows';
import { chooseCarrier } from './choose-carrier.js';
import { CARRIERS, type Carrier, type LabelledProfile } from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';
import { ProfileError, wrongOption } from './profile-error.js';
import { Recording } from './recording.js';

/** How samples are taken and labelled. */
export interface SamplingOptions {
  /** Milliseconds between samples, 0.05 to 1000. Default 1 on demand, 10 when continuous. */
  readonly everyMs?: number;
  /** How labels reach the samples. Default `auto`: the register where its addon works, else trampolines. */
  readonly carrier?: Carrier | 'auto';
  /**
   * Keep labels across awaits, for tens of nanoseconds an await. `auto`: from the first asynchronous scope of a label on (`run`, or a
   * bound function that gives a promise), so that a program without any pays nothing. Default: true; `auto` when continuous on Node 24
   * and later.
   */
  readonly continuations?: boolean | 'auto';
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
  /**
   * End it. Only the first call gives the profile; it throws when the inspector does. A profile that reached its budget, or 2,000,000
   * samples, ended by itself and is given here.
   */
  stop(): LabelledProfile;
}

const DEFAULT_EVERY_MS = 1;
const DEFAULT_MS = 10_000;
const LONGEST_MS = 3_600_000;
/** They are in memory until the profile ends. */
const MAX_SAMPLES = 2_000_000;
const LOOK_MS = 1000;
const US_PER_MS = 1000;
const NS_PER_MS = 1_000_000;

export const checkEveryMs = (everyMs: number): number => finiteNumber('everyMs', everyMs, [0.05, 1000], wrongOption);

/** Refuses a profile that is known to be too large. */
export const checkSamples = (name: string, ms: number, everyMs: number): void => {
  if (!(ms / everyMs > MAX_SAMPLES)) return;
  throw wrongOption(
    `${name} ${ms} at everyMs ${everyMs} is more than ${MAX_SAMPLES} samples; profile less or less often`,
  );
};

/** The recording that these options ask for. Not begun. */
export const openRecording = async (options: SamplingOptions, defaultEveryMs: number): Promise<Recording> => {
  const { everyMs = defaultEveryMs, carrier = 'auto', continuations = true, spans = state.enabled } = options;
  checkEveryMs(everyMs);
  oneOf('carrier', carrier, ['auto', ...CARRIERS], wrongOption);
  if (typeof continuations !== 'boolean' && continuations !== 'auto') {
    throw wrongOption(`continuations is ${String(continuations)}; give true, false or 'auto'`);
  }
  const chosen = await chooseCarrier(carrier);
  const intervalUs = Math.round(everyMs * US_PER_MS);
  return Recording.open({ ...chosen, intervalUs, continuations, labelsSpans: spans });
};

/** `onEnded` is called when the profile ends by itself: at its budget, or with as many samples as one may hold. */
const begin = async (options: SamplingOptions, onEnded: () => void): Promise<RunningProfile> => {
  const { everyMs = DEFAULT_EVERY_MS, budgetPercent } = options;
  if (budgetPercent !== undefined) finiteNumber('budgetPercent', budgetPercent, [0.01, 100], wrongOption);
  const recording = await openRecording(options, DEFAULT_EVERY_MS);
  const startedMs = timers.monotonicMs();
  const costPercent = (): number => {
    const ms = timers.monotonicMs() - startedMs;
    return (recording.costNs(ms) / (ms * NS_PER_MS)) * 100;
  };
  try {
    recording.begin();
  } catch (error) {
    recording.close();
    throw error;
  }
  const end = (): LabelledProfile => {
    timers.clearInterval(look);
    try {
      return recording.end();
    } finally {
      recording.close();
    }
  };
  let give = end;
  const endByItself = (counter: number): void => {
    count(counter);
    // Nobody awaits a timer: what fails here is thrown to whoever asks for the profile.
    try {
      const profile = end();
      give = () => profile;
    } catch (error) {
      give = () => {
        throw error;
      };
    }
    onEnded();
  };
  const look = timers.setInterval(() => {
    recording.tidy();
    if (budgetPercent !== undefined && costPercent() > budgetPercent) endByItself(Counter.budgetStops);
    else if ((timers.monotonicMs() - startedMs) / everyMs > MAX_SAMPLES) endByItself(Counter.sampleStops);
  }, LOOK_MS);
  look.unref();
  let isOver = false;
  return {
    carrier: recording.carrier,
    costPercent,
    stop: () => {
      if (isOver) throw wrongOption('this profile was stopped before; start another');
      isOver = true;
      return give();
    },
  };
};

/**
 * Begin a profile of this thread; it runs until `stop()`.
 *
 * For a stretch of work that you can see the ends of. The first profile of a thread tests the carrier, which takes a tenth of a
 * second of work. Throws `ERR_SPANLINE_PROFILE_*`.
 *
 * @example
 * ```ts
 * import { DynamicLabel, startProfile } from '@spanline/profile';
 * const running = await startProfile({ everyMs: 1 });
 * new DynamicLabel('query', 'q1').apply(() => JSON.stringify(Array.from({ length: 1e5 })));
 * const profile = running.stop();
 * console.assert(profile.counts.total >= profile.counts.labelled);
 * ```
 */
export const startProfile = async (options: SamplingOptions = {}): Promise<RunningProfile> => {
  return begin(options, () => undefined);
};

/**
 * Profile this thread for some time.
 *
 * Other code runs meanwhile: that is what is profiled. Throws `ERR_SPANLINE_PROFILE_*`.
 *
 * @example
 * ```ts
 * import { profile } from '@spanline/profile';
 * const { counts, labels } = await profile({ durationMs: 50 });
 * console.assert(counts.total > 0 && labels.length >= 3);
 * ```
 */
export const profile = async (options: ProfileOptions = {}): Promise<LabelledProfile> => {
  const { durationMs = DEFAULT_MS, signal, everyMs = DEFAULT_EVERY_MS } = options;
  finiteNumber('durationMs', durationMs, [1, LONGEST_MS], wrongOption);
  checkEveryMs(everyMs);
  checkSamples('durationMs', durationMs, everyMs);
  if (signal !== undefined && typeof signal.addEventListener !== 'function') {
    throw wrongOption(`signal is ${typeof signal}; give that of an AbortController`);
  }
  if (signal?.aborted) {
    throw new ProfileError('ERR_SPANLINE_PROFILE_ABORTED', 'the signal had fired before the profile began', {
      cause: signal.reason,
    });
  }
  let finish = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const running = await begin(options, finish);
  const timer = timers.setTimeout(finish, durationMs);
  const unlink = onAbort(signal, finish);
  // Between the check above and here the self-test ran.
  if (signal?.aborted) finish();
  await over;
  timers.clearTimeout(timer);
  unlink();
  return running.stop();
};
