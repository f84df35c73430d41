// Finds and loads the two native files: the Node-API addon (any Node) and the fast-call wrapper (one Node ABI). Never
// throws: what cannot be loaded is a reason to use the next way.
import { type Loaded, loadNativeFile } from './native-file.js';

/** Numbers of the sources, as the addon has them. */
export const SOURCE_NUMBER = { monotonic: 0, tsc: 1, 'tsc-percpu': 2, cntvct: 3 } as const;

/** What native/tsc/src/addon.cc exports. Ticks and CLOCK_MONOTONIC are counted from the process anchor. */
export interface NativeClock {
  now(): number;
  nowAddress(): bigint;
  features(): { readonly invariantTsc: boolean; readonly rdtscp: boolean; readonly cntvctHz: number };
  /** Takes the source for the process unless it has one; gives the one in force. */
  claimSource(source: number): number;
  /** cpu, ticks of the clock, CLOCK_MONOTONIC in ns, bracket in ticks. */
  pair(): number[];
  /** The same four for each CPU this thread may run on, in ticks of the core's own counter. */
  pairPerCpu(): number[];
  /** Puts offsets (cpu, ticks, error for each core) and the line of the first core in force, for all threads. */
  publish(cores: readonly number[], monoNs: number, ticks: number, nsPerTick: number): void;
  /** CLOCK_MONOTONIC of the last publish by any thread; -1 before. */
  publishedAt(): number;
  /** cpu, offset, error (in ticks) for each core in force. */
  cpuOffsets(): number[];
  /** CLOCK_MONOTONIC for the process, unless a thread has published. Gives the source in force. */
  giveUpTsc(): number;
  injectOffset(cpu: number, ticks: number): void;
  unknownCpuReadings(): number;
  /** ticks, unix seconds, nanoseconds within the second. */
  anchor(): number[];
}

/** What native/tsc/src/fast_call.cc exports. */
export interface FastCall {
  /** Undefined when this file serves another clock already. */
  wrap(address: bigint): (() => number) | undefined;
  slowCalls(): number;
  /** The current frame of the async context; missing where V8 has no such function. */
  readonly currentFrame?: () => unknown;
  readonly setFrame?: (frame: unknown) => void;
  // What the flight recorder holds, written to a file when the heap is full (native/tsc/src/heap_limit.cc), all of them or none.
  /** `nearing` is called before that, in the middle of any code, behind each full collection: must not throw. */
  heapLimitStart?(
    directory: string,
    nameEnd: string,
    isWorker: boolean,
    maxTimelineRows: number,
    nearing: () => void,
  ): void;
  /** The head of the file as JSON, up to the rows of the timeline. */
  heapLimitHead?(head: string): void;
  /** Further rows of the timeline as JSON, their number, and those that may still change. */
  heapLimitTimeline?(rows: string, count: number, open: string): void;
  heapLimitAdd?(block: ArrayBuffer, bytes: number): void;
  /** Another block takes the place of one, counted from the oldest on. */
  heapLimitReplace?(place: number, block: ArrayBuffer, bytes: number): void;
  /** The oldest block is held no longer. */
  heapLimitDrop?(): void;
  /** The spans that are open, in place of those before. */
  heapLimitOpen?(block?: ArrayBuffer, bytes?: number): void;
  /** Number of files that the thread has lived through. */
  heapLimitWritten?(): number;
  /** Watch once more, when the limit is the one of the start again. */
  heapLimitRearm?(): void;
  heapLimitStop?(): void;
  /** A new file of so many bytes as memory, its space taken from the disk; or the number of the system's error, and no file. */
  readonly mapFile?: (path: string, bytes: number) => SharedArrayBuffer | number;
  // The event-loop timeline (native/tsc/src/timeline.cc), all of them or none.
  /** False where there is one already. `switches`: how often a span queue was entered and left. */
  timelineStart?(
    cells: Float64Array,
    maxRows: number,
    busyMs: number,
    periodMs: number,
    sample: TimelineSample,
    switches: Int32Array,
    pool: TimelinePool,
  ): boolean;
  timelineStop?(): void;
  /** Nanoseconds of CLOCK_MONOTONIC, as all times of the timeline. */
  timelineNow?(): number;
  /** Puts what goes on into the cells, makes rows of short turns so far, and gives the time; 0 without a timeline. */
  timelineOpen?(): number;
}

/** Called in the middle of any code: must not throw. `frames`: function, script and line of each, innermost first. */
export type TimelineSample = (
  turn: number,
  requestedNs: number,
  servedNs: number,
  isSame: boolean,
  isGoingOn: boolean,
  entered: number,
  left: number,
  frames: readonly (string | number)[],
) => void;

const load = <T>(name: string): Loaded<T> => loadNativeFile('native/tsc/out', name);

export const loadNative = (): Loaded<NativeClock> => load('tsc.node');

let fastCall: Loaded<FastCall> | undefined;

/** Only a file made and self-tested for exactly this ABI. Other programs that say they have it, have not this V8. */
export const loadFastCall = (): Loaded<FastCall> => {
  fastCall ??=
    'bun' in process.versions || 'deno' in process.versions
      ? { reasons: ['the fast call is for Node alone'] }
      : load(`tsc-fast-${process.versions.modules}.node`);
  return fastCall;
};

/**
 * Called when a probe has found the thread pool full, with the requests in flight, and then with the frames of what runs first in turns of
 * the loop, until it gives true. In the middle of any code: must not throw.
 */
export type TimelinePool = (number: number, requests: number, frames?: readonly (string | number)[]) => boolean;
