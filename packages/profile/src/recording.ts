// One thread under profile: opens the inspector, puts the carriers in place, takes profiles one after the other, and takes everything away again. At
// most one in a thread. Must leave no handler, hook or trampoline behind. Of a finished profile the event-loop timeline gets the stacks that no span
// is known to have had, and nothing of the time that no sample stands for.

import { threadId } from 'node:worker_threads';
import { getOrMake, timers } from 'spanline/internal/base';
import { type StackStretch, state } from 'spanline/internal/rows';
import { buildProfile, type FrameTrace, type RegisterTrace } from './build-profile.js';
import { type Following, followContinuations } from './continuations.js';
import { CpuProfiler } from './cpu-profiler.js';
import { labelSpans, SPAN_ID_LABEL } from './join/span-labels.js';
import { LabelTable } from './label-table.js';
import { type Carrier, type LabelledProfile, type ProfileNodes, SampleKind } from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';
import { ProfileError } from './profile-error.js';
import { monotonicUs } from './sample-clock.js';
import { makeCurrent, NO_SCOPE, register } from './shared-state.js';
import { loadSigprof, NoteStore, type Sigprof } from './sigprof.js';
import { Timeline } from './trampoline-history.js';
import type { TrampolinePool } from './trampoline-pool.js';

/** As many as a timeline shows. */
const MAX_FRAMES = 5;
/** A sample that comes later than that stands for itself only: the profiler did not get a core, or was about to end. */
const MAX_INTERVALS = 2;

const framesAt = ({ parent, functionName, url, line }: ProfileNodes, row: number): StackStretch['frames'] => {
  const frames: (string | number)[] = [];
  for (let at = row, left = MAX_FRAMES; parent[at] >= 0 && left > 0; at = parent[at], left--) {
    frames.push(functionName[at], url[at], line[at]);
  }
  return frames;
};

/** In order of time. A sample stands for the time up to the next one; neighbours with the same stack are one stretch. */
export const stacksWithoutSpan = ({ startNs, intervalNs, nodes, samples, labels }: LabelledProfile): StackStretch[] => {
  const stretches: StackStretch[] = [];
  const isOfSpan = labels.map((label) => SPAN_ID_LABEL in label);
  const framesOf = new Map<number, StackStretch['frames']>();
  for (let i = 0; i < samples.count - 1; i++) {
    if (samples.kind[i] !== SampleKind.js || isOfSpan[samples.label[i]]) continue;
    const atNs = startNs + samples.atNs[i];
    const endNs = Math.min(startNs + samples.atNs[i + 1], atNs + MAX_INTERVALS * intervalNs);
    // Several samples may fall into one microsecond.
    if (endNs <= atNs) continue;
    const frames = getOrMake(framesOf, samples.node[i], (row) => framesAt(nodes, row));
    const newest = stretches.at(-1);
    const goesOn = newest?.endNs === atNs && newest.frames === frames;
    if (goesOn) stretches.pop();
    stretches.push({ startNs: goesOn ? newest.startNs : atNs, endNs, frames });
  }
  return stretches;
};

/** Two megabytes: a minute of samples of a millisecond while the event loop does not turn. */
const NOTES = 65_536;
const NS_PER_US = 1000;
const NS_PER_MS = 1_000_000;
/** CPU time of one sample beyond what the notes measure, and of one continuation that is followed; measured. */
const SAMPLE_NS = 3000;
const HOOK_NS = 45;

export interface RecordingSettings {
  readonly intervalUs: number;
  readonly carrier: Carrier;
  /** For the carriers `trampoline` and `both`. */
  readonly pool: TrampolinePool | undefined;
  /** Whether labels are kept across awaits; `auto`: once somebody asks for it. */
  readonly continuations: boolean | 'auto';
  /** Label samples with the span they worked for. */
  readonly labelsSpans?: boolean;
}

const attachedSigprof = (): Sigprof | undefined => {
  const { module } = loadSigprof();
  if (module === undefined) return undefined;
  register.isAttached ||= module.attach(register.cell, NOTES);
  return register.isAttached ? module : undefined;
};

/** True when this thread has the addon and it could be attached. */
export const hasRegisterReader = (): boolean => attachedSigprof() !== undefined;

const refuseForeignHandler = (): void => {
  const handler = loadSigprof().module?.handler() ?? '';
  if (handler === '' || handler === 'v8' || handler === 'spanline') return;
  throw new ProfileError(
    'ERR_SPANLINE_PROFILE_FOREIGN_HANDLER',
    `SIGPROF is handled by ${handler}, and V8's profiler would take the signal from it; stop that profiler first`,
  );
};

/** A profile under way. */
interface Take {
  readonly registerTrace: Omit<RegisterTrace, 'last' | 'lastUs'> | undefined;
  readonly frames: FrameTrace | undefined;
}

export class Recording {
  readonly #profiler: CpuProfiler;
  readonly #settings: RecordingSettings;
  #take: Take | undefined;
  #following: Following | undefined;
  readonly #timeline: Timeline | undefined;
  readonly #sigprof: Sigprof | undefined;
  #unlabelSpans: (() => void) | undefined;
  #isChained = false;
  #spentNs = 0;
  #sampled = 0;

  private constructor(profiler: CpuProfiler, settings: RecordingSettings) {
    this.#profiler = profiler;
    this.#settings = settings;
    const { carrier, continuations, labelsSpans = false } = settings;
    this.#sigprof = carrier === 'trampoline' ? undefined : attachedSigprof();
    if (labelsSpans) this.#unlabelSpans = labelSpans();
    if (continuations === false) return;
    this.#timeline = carrier === 'trampoline' ? new Timeline() : undefined;
    if (continuations === 'auto') register.follow = () => this.#follow();
    else this.#follow();
  }

  get carrier(): Carrier {
    return this.#settings.carrier;
  }

  #follow(): void {
    register.follow = undefined;
    this.#following = followContinuations(this.#timeline);
  }

  static async open(settings: RecordingSettings): Promise<Recording> {
    if (register.isBusy) {
      throw new ProfileError(
        'ERR_SPANLINE_PROFILE_BUSY',
        `thread ${threadId} is being profiled by this library; stop that profile first`,
      );
    }
    register.isBusy = true;
    try {
      refuseForeignHandler();
      const profiler = await CpuProfiler.open();
      // A label of a call that never came to its end. Nothing of this profile runs in one yet.
      makeCurrent(NO_SCOPE);
      return new Recording(profiler, settings);
    } catch (error) {
      register.isBusy = false;
      throw error;
    }
  }

  /** Begin a profile. */
  begin(): void {
    const startedNs = timers.monotonicNs();
    this.#profiler.start(this.#settings.intervalUs);
    const { pool, continuations } = this.#settings;
    const frames = pool && { pool, timeline: this.#timeline, followsContinuations: continuations !== false };
    register.pool = pool;
    const registerTrace = this.#sigprof && this.#readRegister(this.#sigprof);
    this.#take = { registerTrace, frames };
    this.#spend(startedNs);
  }

  /**
   * Take what the bounded ring holds, and forget calls that never came to their end: node:vm terminates code at a time limit, and no
   * `finally` runs. To be called each second or so from the event loop, where no label is active.
   */
  tidy(): void {
    this.#take?.registerTrace?.notes.drain();
    makeCurrent(NO_SCOPE);
    this.#following?.settle();
    this.#settings.pool?.settle();
  }

  /** End the profile under way and make what can be read of it. */
  end(): LabelledProfile {
    const startedNs = timers.monotonicNs();
    const take = this.#take;
    if (take === undefined) throw new Error('no profile was begun');
    this.#take = undefined;
    register.pool = undefined;
    const isInPlace = this.#sigprof?.handler() === 'spanline';
    if (this.#sigprof !== undefined && !isInPlace) count(Counter.handlersDisplaced);
    const last = { last: register.current, lastUs: monotonicUs() };
    // V8 first: it restores the handler before its own, and no signal comes after.
    const raw = this.#profiler.stop();
    this.#sigprof?.unchain();
    take.registerTrace?.notes.close(this.#isChained && isInPlace);
    makeCurrent(register.current);
    register.enroll = undefined;
    const facts = { carrier: this.#settings.carrier, intervalNs: this.#settings.intervalUs * NS_PER_US, threadId };
    const trace = take.registerTrace && { ...take.registerTrace, ...last };
    const profile = buildProfile(raw, { register: trace, frames: take.frames }, facts);
    this.#settings.pool?.reset();
    state.takeStacks?.(stacksWithoutSpan(profile));
    this.#sampled += profile.counts.total;
    this.#spend(startedNs);
    return profile;
  }

  /** What this recording cost so far in CPU time of the thread, in nanoseconds: an estimate. */
  costNs(sinceMs: number): number {
    const running = this.#take === undefined ? 0 : (sinceMs * NS_PER_MS) / (this.#settings.intervalUs * NS_PER_US);
    return this.#spentNs + (this.#sampled + running) * SAMPLE_NS + (this.#following?.resumptions() ?? 0) * HOOK_NS;
  }

  /** Nothing of it is left behind; a profile under way is thrown away. */
  close(): void {
    try {
      if (this.#take !== undefined) this.end();
    } finally {
      register.pool = undefined;
      register.enroll = undefined;
      register.follow = undefined;
      this.#unlabelSpans?.();
      this.#following?.stop();
      this.#profiler.close();
      // Again, for a profile that the inspector failed to end.
      this.#sigprof?.unchain();
      register.isBusy = false;
    }
  }

  #readRegister(sigprof: Sigprof): Take['registerTrace'] {
    const notes = new NoteStore(sigprof);
    const table = new LabelTable();
    // Bound, for then it has no frame of its own.
    register.enroll = table.add.bind(table);
    const first = register.current;
    // Before the first note, whose CPU time counts from here.
    const firstCpuNs = sigprof.threadCpuNs();
    this.#isChained = sigprof.chain();
    if (!this.#isChained) count(Counter.handlersDisplaced);
    return { notes, table, first, firstUs: monotonicUs(), firstCpuNs };
  }

  #spend(sinceNs: bigint): void {
    this.#spentNs += Number(timers.monotonicNs() - sinceNs);
  }
}
