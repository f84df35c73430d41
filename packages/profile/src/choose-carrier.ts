// Which carrier this thread uses: the register where its reader loads and passes the self-test, else trampolines of the kind that passes. Tested
// once a thread and remembered: two labels, two functions, a fraction of a second of work, and every sample in the one function must bear the one
// label, for V8 promises none of what carriers rely on. And `stats()`: how labels travel here, and what was refused, lost or could not be determined
// in this thread.

import { timers } from 'spanline/internal/base';
import { DynamicLabel } from './dynamic-label.js';
import { type Carrier, type LabelledProfile, SampleKind } from './labelled-profile.js';
import { type CounterName, readCounters } from './profile-counters.js';
import { ProfileError } from './profile-error.js';
import { hasRegisterReader, Recording, type RecordingSettings } from './recording.js';
import { scopeOf } from './scope.js';
import { type FramePool, makeCurrent, register } from './shared-state.js';
import { loadSigprof } from './sigprof.js';
import { type TrampolineKind, TrampolinePool } from './trampoline-pool.js';

/** Share of samples that must bear the right label. */
const ENOUGH = 0.95;

const WORK_MS = 60;
const MAX_MS = 200;
const MIN_SAMPLES = 100;
const INTERVAL_US = 100;
const KEY = 'spanline.self-test';
const ROUNDS = 2000;

// Two texts, so that V8 tells them apart.
const selfTestA = (): number => {
  let sum = 0;
  for (let i = 0; i < ROUNDS; i++) sum += Math.sqrt(i);
  return sum;
};
const selfTestB = (): number => {
  let sum = 1;
  for (let i = 1; i < ROUNDS; i++) sum -= Math.sqrt(i + 1);
  return sum;
};

// Not apply(): V8 learns from each call, and would take the program's own calls of it for calls of any function.
const runnerOf = (label: DynamicLabel, pool: FramePool | undefined): ((fn: () => number) => void) => {
  const scope = scopeOf(label);
  return (fn) => {
    const outer = register.current;
    makeCurrent(scope);
    if (pool === undefined) fn();
    else pool.run(label, fn);
    makeCurrent(outer);
  };
};

/** Samples in one of the two functions, and how many of them bear its label. */
const score = ({ samples, nodes, labels }: LabelledProfile): { right: number; all: number } => {
  const wanted = new Map<string, string>([
    [selfTestA.name, 'a'],
    [selfTestB.name, 'b'],
  ]);
  let right = 0;
  let all = 0;
  for (let i = 0; i < samples.count; i++) {
    const label = wanted.get(nodes.functionName[samples.node[i]]);
    if (label === undefined || samples.kind[i] !== SampleKind.js) continue;
    all++;
    if (labels[samples.label[i]][KEY] === label) right++;
  }
  return { right, all };
};

/** The share of samples that bear the right label; 0 when there are too few to say. */
const selfTest = async (carrier: Pick<RecordingSettings, 'carrier' | 'pool'>): Promise<number> => {
  using a = new DynamicLabel(KEY, 'a');
  using b = new DynamicLabel(KEY, 'b');
  const inA = runnerOf(a, carrier.pool);
  const inB = runnerOf(b, carrier.pool);
  const recording = await Recording.open({ ...carrier, intervalUs: INTERVAL_US, continuations: false });
  try {
    let right = 0;
    let all = 0;
    for (let ms = 0; ms < MAX_MS && all < MIN_SAMPLES; ms += WORK_MS) {
      recording.begin();
      const end = timers.monotonicMs() + WORK_MS;
      while (timers.monotonicMs() < end) {
        inA(selfTestA);
        inB(selfTestB);
      }
      const found = score(recording.end());
      right += found.right;
      all += found.all;
    }
    return all === 0 ? 0 : right / all;
  } finally {
    recording.close();
  }
};

interface ChosenCarrier {
  readonly carrier: Carrier;
  readonly pool: TrampolinePool | undefined;
}

const KINDS: readonly TrampolineKind[] = ['second-context', 'padded'];

/** Share of the self-test's samples with the right label, by `register`, `second-context` and `padded`. */
const shares = new Map<'register' | TrampolineKind, number>();
let pool: TrampolinePool | undefined;

const isEnough = (name: 'register' | TrampolineKind): boolean => (shares.get(name) ?? 0) >= ENOUGH;

const isRegisterGood = async (): Promise<boolean> => {
  if (!hasRegisterReader()) return false;
  // One that failed is tested again: the machine may have been too busy to say.
  if (!isEnough('register')) shares.set('register', await selfTest({ carrier: 'register', pool: undefined }));
  return isEnough('register');
};

const goodPool = async (): Promise<TrampolinePool | undefined> => {
  if (pool !== undefined) return pool;
  for (const kind of KINDS) {
    const candidate = new TrampolinePool(kind);
    shares.set(kind, await selfTest({ carrier: 'trampoline', pool: candidate }));
    if (!isEnough(kind)) continue;
    pool = candidate;
    return pool;
  }
  return undefined;
};

const noCarrier = (wanted: string): ProfileError => {
  const tested = [...shares].map(([name, share]) => `${name} labelled ${(share * 100).toFixed(1)} %`).join(', ');
  const reasons = [...loadSigprof().reasons, tested].filter((reason) => reason !== '').join('; ');
  return new ProfileError(
    'ERR_SPANLINE_PROFILE_CARRIER',
    `carrier ${wanted} does not work in this thread (${reasons}); ask for carrier 'auto'`,
  );
};

/** The carrier asked for, or the best there is. */
export const chooseCarrier = async (wanted: Carrier | 'auto'): Promise<ChosenCarrier> => {
  const hasRegister = wanted !== 'trampoline' && (await isRegisterGood());
  if (hasRegister && wanted !== 'both') return { carrier: 'register', pool: undefined };
  if (wanted === 'register') throw noCarrier(wanted);
  const found = await goodPool();
  if (found === undefined || (wanted === 'both' && !hasRegister)) throw noCarrier(wanted);
  return { carrier: hasRegister ? 'both' : 'trampoline', pool: found };
};

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
  selfTest: Object.fromEntries(shares),
  addonProblems: loadSigprof().reasons,
  counters: readCounters(),
});
