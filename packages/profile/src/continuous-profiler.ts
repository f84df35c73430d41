// Profiles without end: one rotation after the other, each handed to a sink, within a budget of CPU time. A sink that is slow or
// fails costs profiles, never memory and never the program.
import { finiteNumber, timers } from 'spanline/internal/base';
import type { Carrier, LabelledProfile } from './labelled-profile.js';
import { checkEveryMs, checkSamples, openRecording, type SamplingOptions } from './profile.js';
import { Counter, count } from './profile-counters.js';
import { wrongOption } from './profile-error.js';
import type { Recording } from './recording.js';
import { checkSink, DEFAULT_STOP_MS, ProfileDelivery, type ProfileSink } from './sinks/profile-sink.js';

export interface ContinuousOptions extends SamplingOptions {
  /** Length of one profile in milliseconds, 100 to an hour. Default 30,000. */
  readonly rotateMs?: number;
  readonly sink: ProfileSink;
  /** Milliseconds that `stop()` waits for the sink, up to an hour. Default 10,000. */
  readonly stopMs?: number;
}

export interface ContinuousStats {
  readonly carrier: Carrier;
  /** Profiles handed to the sink. */
  readonly profiles: number;
  /** Handed to the sink, or next in turn, and not taken yet. */
  readonly waiting: number;
  /** Dropped because the sink still had as many as may wait. */
  readonly dropped: number;
  readonly sinkErrors: number;
  /** What the sink threw last. */
  readonly lastSinkError: unknown;
  /** Why it ended by itself: what V8 or the inspector refused. Undefined while it runs. */
  readonly failure: unknown;
  /** Rotations left out to stay within the budget. */
  readonly pauses: number;
  /** What it cost this thread so far, in percent of one core: an estimate. */
  readonly costPercent: number;
}

const { node } = process.versions;
// Since Node 24 AsyncLocalStorage, and with it every span, works without promise hooks: a profile for the life of a program must not
// bring them back unless labels need them.
const DEFAULT_CONTINUATIONS = Number.parseInt(node, 10) >= 24 ? 'auto' : true;
const DEFAULT_EVERY_MS = 10;
const DEFAULT_ROTATE_MS = 30_000;
const DEFAULT_BUDGET_PERCENT = 2;
const MIN_ROTATE_MS = 100;
const MAX_ROTATE_MS = 3_600_000;
const MAX_STOP_MS = 3_600_000;
/** How often notes are taken out of the ring and the budget is looked at. */
const LOOK_MS = 1000;
const NS_PER_MS = 1_000_000;

type Settings = Required<Pick<ContinuousOptions, 'rotateMs' | 'budgetPercent' | 'stopMs'>>;

/**
 * A profiler that runs for the life of the program; see {@link continuousProfiler}.
 *
 * Stop it before the program ends, or the profile under way is not handed over. It keeps no program alive.
 */
export class ContinuousProfiler {
  readonly #recording: Recording;
  readonly #settings: Settings;
  readonly #startedMs = timers.monotonicMs();
  #beganMs = 0;
  #spentBeforeNs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isOver = false;
  readonly #delivery: ProfileDelivery;
  #failure: unknown;
  #pauses = 0;

  /** @internal */
  constructor(recording: Recording, sink: ProfileSink, settings: Settings) {
    this.#recording = recording;
    this.#settings = settings;
    this.#delivery = new ProfileDelivery(sink);
    this.#begin();
  }

  /**
   * Hand over the profile under way, wait for the sink, and take everything away. Again: waits only. A sink that hangs, or waits for this
   * very call, holds it for `stopMs`.
   */
  async stop(): Promise<void> {
    const last = this.stopNow();
    if (last !== undefined) this.#delivery.give(last);
    await this.#delivery.settled(this.#settings.stopMs);
  }

  /**
   * End at once and give the profile under way, if there is one, to the caller in place of the sink.
   *
   * For the `exit` event of a process, where nothing can be awaited. What waits for a slow sink is not in it.
   *
   * @example
   * ```ts
   * import { continuousProfiler, toFolded } from '@spanline/profile';
   * const profiler = await continuousProfiler({ sink: () => undefined });
   * const last = profiler.stopNow();
   * console.log(last && toFolded(last).length);
   * ```
   */
  stopNow(): LabelledProfile | undefined {
    if (this.#isOver) return undefined;
    this.#isOver = true;
    timers.clearTimeout(this.#timer);
    try {
      return this.#isRunning ? this.#recording.end() : undefined;
    } finally {
      this.#isRunning = false;
      this.#recording.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  stats(): ContinuousStats {
    const { profiles, waiting, dropped, sinkErrors, lastSinkError } = this.#delivery;
    const ms = timers.monotonicMs() - this.#startedMs;
    const costPercent = (this.#costNs() / (ms * NS_PER_MS)) * 100;
    return {
      carrier: this.#recording.carrier,
      profiles,
      waiting,
      dropped,
      sinkErrors,
      lastSinkError,
      failure: this.#failure,
      pauses: this.#pauses,
      costPercent,
    };
  }

  #costNs(): number {
    return this.#recording.costNs(this.#isRunning ? timers.monotonicMs() - this.#beganMs : 0);
  }

  #begin(): void {
    this.#spentBeforeNs = this.#costNs();
    this.#beganMs = timers.monotonicMs();
    this.#recording.begin();
    this.#isRunning = true;
    this.#look();
  }

  #look(): void {
    const leftMs = this.#beganMs + this.#settings.rotateMs - timers.monotonicMs();
    this.#timer = timers.setTimeout(() => this.#guarded(() => this.#onTimer()), Math.max(1, Math.min(leftMs, LOOK_MS)));
    this.#timer.unref();
  }

  // Nobody awaits a timer: what fails there would end the program.
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#failure = error;
      this.#isRunning = false;
      this.#isOver = true;
      this.#recording.close();
    }
  }

  #onTimer(): void {
    this.#recording.tidy();
    const ms = timers.monotonicMs() - this.#beganMs;
    if (ms < this.#settings.rotateMs && !(ms >= LOOK_MS && this.#isOverBudget(ms))) {
      this.#look();
      return;
    }
    this.#isRunning = false;
    this.#delivery.give(this.#recording.end());
    const pauseMs = this.#pauseMs(timers.monotonicMs() - this.#beganMs);
    if (pauseMs === 0) {
      this.#begin();
      return;
    }
    this.#pauses++;
    count(Counter.budgetPauses);
    this.#timer = timers.setTimeout(() => this.#guarded(() => this.#begin()), pauseMs);
    this.#timer.unref();
  }

  #isOverBudget(ms: number): boolean {
    return this.#costNs() - this.#spentBeforeNs > (this.#settings.budgetPercent / 100) * ms * NS_PER_MS;
  }

  // So long that profile and pause together are within the budget.
  #pauseMs(ms: number): number {
    const wantedMs = (this.#costNs() - this.#spentBeforeNs) / NS_PER_MS / (this.#settings.budgetPercent / 100);
    return Math.min(Math.max(0, Math.ceil(wantedMs - ms)), MAX_ROTATE_MS);
  }
}

/**
 * Profile this thread from now on, in rotations handed to a sink.
 *
 * For production: 100 samples a second by default. When it costs more than `budgetPercent` of one core (default 2) it pauses until it
 * is within the budget again. Throws `ERR_SPANLINE_PROFILE_*`.
 *
 * @example
 * ```ts
 * import { continuousProfiler, shares } from '@spanline/profile';
 * const profiler = await continuousProfiler({ rotateMs: 10_000, sink: (profile) => console.log(shares(profile, 'query')) });
 * await profiler.stop();
 * ```
 */
export const continuousProfiler = async (options: ContinuousOptions): Promise<ContinuousProfiler> => {
  const {
    everyMs = DEFAULT_EVERY_MS,
    rotateMs = DEFAULT_ROTATE_MS,
    budgetPercent = DEFAULT_BUDGET_PERCENT,
    stopMs = DEFAULT_STOP_MS,
    sink,
  } = options;
  checkEveryMs(everyMs);
  finiteNumber('stopMs', stopMs, [0, MAX_STOP_MS], wrongOption);
  finiteNumber('rotateMs', rotateMs, [MIN_ROTATE_MS, MAX_ROTATE_MS], wrongOption);
  checkSamples('rotateMs', rotateMs, everyMs);
  finiteNumber('budgetPercent', budgetPercent, [0.01, 100], wrongOption);
  checkSink(sink);
  const recording = await openRecording({ continuations: DEFAULT_CONTINUATIONS, ...options }, DEFAULT_EVERY_MS);
  try {
    return new ContinuousProfiler(recording, sink, { rotateMs, budgetPercent, stopMs });
  } catch (error) {
    recording.close();
    throw error;
  }
};
