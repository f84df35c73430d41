// Does a carrier work on this very Node? Two labels, two functions, a fraction of a second of work: every sample in the one function must
// bear the one label. Decides which carrier is used; V8 promises none of what they rely on.
import { timers } from 'spanline/internal/base';
import { DynamicLabel } from './dynamic-label.js';
import type { LabelledProfile } from './labelled-profile.js';
import { SampleKind } from './labelled-profile.js';
import { Recording, type RecordingSettings } from './recording.js';
import { scopeOf } from './scope.js';
import { type FramePool, makeCurrent, register } from './shared-state.js';

/** Share of samples that must bear the right label. */
export const ENOUGH = 0.95;

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
export const selfTest = async (carrier: Pick<RecordingSettings, 'carrier' | 'pool'>): Promise<number> => {
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
