// A finished profile from what V8 sampled and what the carriers know: finds scope and CPU time of each sample, by the note the handler took with it,
// by the trampolines on its stack, or by both; counts every sample once, and credits the labels with their CPU time. What cannot be credited is lost; it
// is never given to the most likely label.

import { getOrMake } from 'spanline/internal/base';
import { type RawProfile, type RawSamples, rawSamples, selected } from './cpu-profiler.js';
import type { LabelTable } from './label-table.js';
import {
  type Carrier,
  countSamples,
  type LabelledProfile,
  LabelRows,
  LOST_LABEL,
  NO_LABEL,
  OVERFLOW_LABEL,
  outcomeOf,
  SampleKind,
} from './labelled-profile.js';
import { Counter, count } from './profile-counters.js';
import { unixNsAt } from './sample-clock.js';
import { labelsOf, nested, recordOf } from './scope.js';
import { NO_SCOPE, type Scope } from './shared-state.js';
import type { Note, NoteStore } from './sigprof.js';
import { LOST, type Timeline } from './trampoline-history.js';
import { APART, OVERFLOW, type TrampolinePool } from './trampoline-pool.js';

/** What the register left behind. */
export interface RegisterTrace {
  readonly notes: NoteStore;
  readonly table: LabelTable;
  /** Current when the handler was put in place, at this microsecond and CPU time of the thread. */
  readonly first: Scope;
  readonly firstUs: number;
  readonly firstCpuNs: number;
  /** Current when the profile was ended, at this microsecond: V8 takes a last sample of itself. */
  readonly last: Scope;
  readonly lastUs: number;
}

/** What the trampolines left behind. */
export interface FrameTrace {
  readonly pool: TrampolinePool;
  /** Undefined when continuations were not followed, or by the register alone. */
  readonly timeline: Timeline | undefined;
  /** Without a timeline, what has no frame may be a continuation of a label all the same. */
  readonly followsContinuations: boolean;
}

/** At least one of the two. */
interface Carried {
  readonly register?: RegisterTrace;
  readonly frames?: FrameTrace;
}

/** What is known of the labels of a sample. */
type Attribution = Scope | 'lost' | 'overflow';

interface Attributed {
  /** Without those that V8 took unasked. */
  readonly samples: RawSamples;
  readonly scopes: readonly Attribution[];
  readonly cpuNs: Float64Array;
  readonly unit: 'cpu' | 'samples';
}

const NS_PER_US = 1000;

/** The note of each sample: the one whose interval holds its time; undefined where there is none. Both are in order of time. `us` are the samples' times, rounded down to microseconds. */
export const matchNotes = (us: Float64Array, notes: Iterator<Note>): (Note | undefined)[] => {
  const matched: (Note | undefined)[] = [];
  let note = notes.next().value as Note | undefined;
  for (const at of us) {
    while (note !== undefined && Math.floor(note.toNs / NS_PER_US) < at) note = notes.next().value as Note | undefined;
    if (note === undefined || Math.floor(note.fromNs / NS_PER_US) > at) {
      matched.push(undefined);
      continue;
    }
    matched.push(note);
    // One note is one sample.
    note = notes.next().value as Note | undefined;
  }
  return matched;
};

const byFrames = (trampolines: readonly number[], us: number, trace: FrameTrace): Attribution => {
  const { pool, timeline, followsContinuations } = trace;
  const resumed = timeline?.scopeAt(us) ?? (followsContinuations ? LOST : NO_SCOPE);
  if (trampolines.length === 0) return resumed === LOST ? 'lost' : resumed;
  let scope = resumed === LOST ? NO_SCOPE : resumed;
  for (const index of trampolines) {
    const label = pool.labelAt(index, us);
    if (label === LOST) return 'lost';
    if (label === OVERFLOW) return 'overflow';
    scope = label === APART ? NO_SCOPE : nested(scope, label);
  }
  return scope;
};

// Samples are equal: the CPU time of a stretch is divided among its busy samples. Never by the time since the sample before: code that
// follows a pause would be charged for it.

/** Busy samples that share the CPU time they were taken in. More, and a change of pace is lost; fewer, and it is noise. */
const STRETCH = 64;

/** Each busy sample weighs one interval. */
export const weightsByCount = (kind: Uint8Array, intervalNs: number): Float64Array =>
  Float64Array.from(kind, (each) => (each === SampleKind.idle ? 0 : intervalNs));

/**
 * By measured CPU time. `cpuNs` is that of the thread at each sample, NaN where it was not noted; `startNs` at the first.
 */
export const weightsByCpu = (kind: Uint8Array, cpuNs: Float64Array, startNs: number): Float64Array => {
  const weights = new Float64Array(kind.length);
  let before = startNs;
  let latest = startNs;
  let from = 0;
  let busy = 0;
  const share = (to: number): void => {
    const each = busy === 0 ? 0 : (latest - before) / busy;
    for (let i = from; i < to; i++) weights[i] = kind[i] === SampleKind.idle ? 0 : each;
  };
  for (let i = 0; i < kind.length; i++) {
    if (kind[i] !== SampleKind.idle) busy++;
    if (!Number.isNaN(cpuNs[i])) latest = cpuNs[i];
    if (busy < STRETCH || Number.isNaN(cpuNs[i])) continue;
    share(i + 1);
    before = latest;
    from = i + 1;
    busy = 0;
  }
  share(kind.length);
  return weights;
};

// V8 takes a sample of itself whenever it throws optimised code away: no signal, no note, and no share of time that it could stand
// for. Where the handler saw every signal, what has no note is one of those.
const askedFor = (notes: readonly unknown[], isComplete: boolean, isAtEnds: (i: number) => boolean): number[] => {
  const rows: number[] = [];
  notes.forEach((note, i) => {
    if (note !== undefined || !isComplete || isAtEnds(i)) rows.push(i);
  });
  count(Counter.samplesUnasked, notes.length - rows.length);
  return rows;
};

export const attributed = (samples: RawSamples, { register, frames }: Carried, intervalNs: number): Attributed => {
  const framed = (i: number): Attribution =>
    frames === undefined ? 'lost' : byFrames(samples.trampolines(i), samples.us[i], frames);
  if (register === undefined) {
    const scopes = Array.from({ length: samples.count }, (_, i) => framed(i));
    return { samples, scopes, cpuNs: weightsByCount(samples.kind, intervalNs), unit: 'samples' };
  }
  const { table, first, firstUs, firstCpuNs, last, lastUs } = register;
  const notes = matchNotes(samples.us, register.notes.notes());
  const isFirst = (i: number): boolean => samples.us[i] <= firstUs;
  const isLast = (i: number): boolean => samples.us[i] >= lastUs;
  const rows = askedFor(notes, register.notes.isComplete, (i) => isFirst(i) || isLast(i));
  const scopes = rows.map((i) => {
    const note = notes[i];
    if (note !== undefined) return table.find(note.labelId);
    if (isFirst(i)) return first;
    return isLast(i) ? last : framed(i);
  });
  const asked = rows.length === samples.count ? samples : selected(samples, rows);
  const cpuAt = Float64Array.from(rows, (i) => notes[i]?.cpuNs ?? Number.NaN);
  return { samples: asked, scopes, cpuNs: weightsByCpu(asked.kind, cpuAt, firstCpuNs), unit: 'cpu' };
};

interface ProfileFacts {
  readonly carrier: Carrier;
  readonly intervalNs: number;
  readonly threadId: number;
}

export const buildProfile = (raw: RawProfile, carried: Carried, facts: ProfileFacts): LabelledProfile => {
  const { samples: taken, scopes, cpuNs, unit } = attributed(rawSamples(raw), carried, facts.intervalNs);
  const table = new LabelRows();
  const rows = new Map<Attribution, number>([
    [NO_SCOPE, NO_LABEL],
    ['lost', LOST_LABEL],
    ['overflow', OVERFLOW_LABEL],
  ]);
  const rowOf = (scope: Attribution): number => getOrMake(rows, scope, () => table.rowOf(recordOf(scope as Scope)));
  const label = Uint32Array.from(scopes, rowOf);
  const atNs = taken.us.map((us) => (us - taken.startUs) * NS_PER_US);
  const samples = { count: taken.count, node: taken.node, atNs, cpuNs, label, kind: taken.kind };
  scopes.forEach((scope, i) => {
    if (outcomeOf(taken.kind[i], label[i]) !== 'labelled') return;
    for (const each of labelsOf(scope as Scope)) each.credit(cpuNs[i]);
  });
  const counts = countSamples(samples);
  count(Counter.samplesLost, counts.lost);
  count(Counter.profiles);
  const startNs = taken.startUs * NS_PER_US;
  const endNs = taken.endUs * NS_PER_US;
  return {
    ...facts,
    startNs,
    endNs,
    startUnixNs: unixNsAt(startNs),
    unit,
    nodes: taken.nodes,
    samples,
    labels: table.labels,
    counts,
  };
};
