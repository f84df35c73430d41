// LabelledProfile: a finished CPU profile whose samples know their labels; what every output format, report and join reads. Its label table has equal
// records once, the profiler's own three first, and every sample is counted once. Plain data, immutable once made. Must not know how it was taken
// (profiler, carrier, thread).
import { getOrMake } from 'spanline/internal/base';

/** The labels of a sample: what it worked for. Keys and values are bounded and may hold any character: writers escape. */
export type LabelRecord = Readonly<Record<string, string | number>>;

/** Rows of {@link LabelledProfile.labels} that every profile has. */
export const NO_LABEL = 0;
/** The label was overwritten or not noted before the sample could be read: `{ 'spanline.label': 'lost' }`. */
export const LOST_LABEL = 1;
/** More labels than a profile keeps, or more trampolines than there are: `{ 'spanline.label': 'overflow' }`. */
export const OVERFLOW_LABEL = 2;

/** Key of the two labels that the profiler itself gives (`lost`, `overflow`). */
export const OWN_LABEL_KEY = 'spanline.label';

/** What the thread was doing; numbers of {@link ProfileSamples.kind}. */
export const SampleKind = {
  /** JavaScript, or native code called by it. */
  js: 0,
  /** Waiting for events. */
  idle: 1,
  /** Collecting garbage. The label is the one that happened to be active. */
  gc: 2,
  /** Native code outside any JavaScript: the event loop, compilation. */
  program: 3,
} as const;

/** The call tree, one row a node. A parent stands before its children; row 0 is the root. */
export interface ProfileNodes {
  readonly count: number;
  /** Row of the caller; -1 for the root. */
  readonly parent: Int32Array;
  /** `(root)`, `(idle)`, `(garbage collector)`, `(program)` are V8's; '' is an anonymous function. */
  readonly functionName: readonly string[];
  /** Script as V8 names it (`file:///...`, `node:fs`); '' for native code. */
  readonly url: readonly string[];
  /** One-based line and column of the function; 0 where V8 knows none. */
  readonly line: Int32Array;
  readonly column: Int32Array;
}

/** The samples in order of time, one row each. */
export interface ProfileSamples {
  readonly count: number;
  /** Row of the innermost frame in {@link ProfileNodes}. */
  readonly node: Uint32Array;
  /** Nanoseconds since {@link LabelledProfile.startNs}; never negative. */
  readonly atNs: Float64Array;
  /** CPU time of the thread that this sample stands for, in nanoseconds; 0 when idle. */
  readonly cpuNs: Float64Array;
  /** Row in {@link LabelledProfile.labels}. */
  readonly label: Uint32Array;
  /** A {@link SampleKind}. */
  readonly kind: Uint8Array;
}

/** Numbers of samples. `labelled + unlabelled + lost + overflow + idle + gc + program` is always `total`. */
export interface SampleCounts {
  readonly total: number;
  /** JavaScript samples with a label of the user's. */
  readonly labelled: number;
  /** JavaScript samples that no label was active for. */
  readonly unlabelled: number;
  /** JavaScript samples whose label cannot be told any more. */
  readonly lost: number;
  /** JavaScript samples under a label that had no room. */
  readonly overflow: number;
  readonly idle: number;
  readonly gc: number;
  readonly program: number;
}

/** How labels reached the samples: through frames on the stack, through the register and its signal handler, or both. */
export type Carrier = (typeof CARRIERS)[number];

export const CARRIERS = ['trampoline', 'register', 'both'] as const;

/** What a file says of its carrier, which it need not. */
export const carrierOf = (said: unknown): Carrier => CARRIERS.find((carrier) => carrier === said) ?? 'trampoline';

/**
 * A finished CPU profile of one thread.
 *
 * Taken by `profile()` and `continuousProfiler()`; written by the writers of pprof, cpuprofile, speedscope and folded stacks.
 */
export interface LabelledProfile {
  /** CLOCK_MONOTONIC (what `process.hrtime` counts) at the first and last moment, in nanoseconds. */
  readonly startNs: number;
  readonly endNs: number;
  /** The wall clock at `startNs`, in nanoseconds since 1970. */
  readonly startUnixNs: bigint;
  /** `cpu`: weights are thread CPU time as measured. `samples`: each busy sample weighs one interval, or the time since the one before. */
  readonly unit: 'cpu' | 'samples';
  /**
   * What the weights are where a file of another profiler has no CPU time, by its own name: `wall`, `delay`. All `cpuNs` are that then.
   * Absent for CPU time.
   */
  readonly measure?: string;
  /** The interval asked for, in nanoseconds. */
  readonly intervalNs: number;
  readonly carrier: Carrier;
  /** 0 for the main thread. */
  readonly threadId: number;
  readonly nodes: ProfileNodes;
  readonly samples: ProfileSamples;
  /** Row 0 is `{}`: no label. Rows 1 and 2 are the profiler's own; the rest the user's, equal records once. */
  readonly labels: readonly LabelRecord[];
  readonly counts: SampleCounts;
}

const keyOf = (record: LabelRecord): string =>
  JSON.stringify(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));

export class LabelRows {
  readonly labels: LabelRecord[] = [{}, { [OWN_LABEL_KEY]: 'lost' }, { [OWN_LABEL_KEY]: 'overflow' }];
  readonly #rows = new Map(this.labels.map((record, row) => [keyOf(record), row]));

  rowOf(record: LabelRecord): number {
    return getOrMake(this.#rows, keyOf(record), () => this.labels.push(record) - 1);
  }
}

/** A record from pairs; no prototype, so that a key `__proto__` is a key like any other. */
export const recordFrom = (pairs: Iterable<readonly [string, string | number]>): LabelRecord => {
  const record = Object.create(null) as Record<string, string | number>;
  for (const [key, value] of pairs) record[key] = value;
  return Object.freeze(record);
};

type Outcome = Exclude<keyof SampleCounts, 'total'>;

const OUTCOME_OF_LABEL: Readonly<Record<number, Outcome>> = {
  [NO_LABEL]: 'unlabelled',
  [LOST_LABEL]: 'lost',
  [OVERFLOW_LABEL]: 'overflow',
};

/** What is counted of a sample of this kind with this row of the labels. */
export const outcomeOf = (kind: number, label: number): Outcome => {
  if (kind === SampleKind.idle) return 'idle';
  if (kind === SampleKind.gc) return 'gc';
  // V8 cannot walk every stack: a label tells all the same.
  const outcome = OUTCOME_OF_LABEL[label] ?? 'labelled';
  return kind === SampleKind.program && outcome !== 'labelled' ? 'program' : outcome;
};

export const countSamples = ({
  count,
  kind,
  label,
}: Pick<ProfileSamples, 'count' | 'kind' | 'label'>): SampleCounts => {
  const counts = { total: count, labelled: 0, unlabelled: 0, lost: 0, overflow: 0, idle: 0, gc: 0, program: 0 };
  for (let i = 0; i < count; i++) counts[outcomeOf(kind[i], label[i])]++;
  return counts;
};
