// The one process-wide state: what the ES module build and the CommonJS build of this package must share when both
// are loaded, so that a trace begun in one continues in the other. Nothing else in the library may be global.
import { sharedState } from '../base/maps/shared-state.js';
import { FrameStore } from './frame-store.js';

/** A span queue as the async context sees it. `SpanQueue` implements it, above this file. */
export interface TaskQueue {
  readonly isLive: boolean;
  readonly sampled: boolean;
  readonly scope: TaskQueue;
  leftTo: TaskQueue | undefined | null;
  context: object | null;
  isEntered: boolean;
  readonly hasOpen: boolean;
  stretch(): TaskQueue;
  close(): void;
}

/** What a CPU profile does around the work of spans, so that its samples know them. None of it may throw of its own. */
export interface SpanLabelling {
  /** Run `fn` with `queue` as the current one, labelled with the span of the queue. */
  run<T>(queue: TaskQueue, fn: () => T): T;
  /** Label what follows; give the function that ends it, or undefined when there is nothing to end. */
  enter(queue: TaskQueue): (() => void) | undefined;
}

/**
 * Scopes of queues as the event-loop timeline watches them: a sample needs what was left since its request, and long work in one scope
 * is reported without a sample.
 */
export interface QueueSwitches {
  /** How often a queue was entered, and left. Native code reads them. */
  readonly counts: Int32Array;
  /** The one that was left last. */
  left: TaskQueue | undefined;
  /** Called with work of a millisecond or more that has just ended, and its nanoseconds. Must not throw. */
  ran(queue: TaskQueue, ns: number): void;
}

/** What a CPU profile of this thread found running, from one sample to the next. */
export interface StackStretch {
  /** Nanoseconds of CLOCK_MONOTONIC. */
  readonly startNs: number;
  readonly endNs: number;
  /** Function, script and line of each frame, innermost first; not all of a deep stack. */
  readonly frames: readonly (string | number)[];
}

/** State shared by every copy of this major version in a thread. */
export interface ProcessState {
  /** False turns every entry point into a no-op. Read on each call, so one branch is the whole cost of being off. */
  enabled: boolean;
  /** Warn about misuse once per call site. */
  development: boolean;
  /** The one async context of the library. */
  readonly queueStore: FrameStore<TaskQueue>;
  /** Queues that are closed at the end of this turn of the event loop. */
  readonly unfinished: TaskQueue[];
  /** Interned names: texts by number and numbers by text; nothing has the number 0. */
  readonly names: { readonly texts: string[]; readonly numbers: Map<string, number> };
  /** The same for names from elsewhere. */
  readonly readNames: { readonly texts: string[]; readonly numbers: Map<string, number> };
  /** Scopes by number, from 1 on; typed in their own file. */
  readonly scopes: unknown[];
  /** Counted drops and misuses, indexed by `Counter`. */
  readonly counters: Float64Array;
  /** The default collector; typed in `src/span`, as far as roots need it, and in its module. */
  defaultCollector: unknown;
  /** Set where queues carry contexts of OpenTelemetry: a queue that is entered takes over that of the queue around it. */
  carriesContexts: boolean;
  /** What is done when signals come, by signal; typed in its own module. */
  readonly signalWork: Map<string, unknown>;
  /** The flight recorder of the default collector; typed in its module. */
  flightRecorder: unknown;
  /** Set while a CPU profile labels samples with spans. Read once a task; undefined is the whole cost without a profile. */
  labelling: SpanLabelling | undefined;
  /** Set while the event-loop timeline is on. */
  queueSwitches: QueueSwitches | undefined;
  /** The event-loop timeline, typed in its own module. */
  timeline: unknown;
  /** Set while a timeline wants what ran outside spans: takes stretches in order of time, without overlaps. Must not throw. */
  takeStacks: ((stacks: readonly StackStretch[]) => void) | undefined;
  /** Instrumentations that are on, by name; typed in their module. */
  instrumentations: unknown;
  /** What reads the routes of requests that no framework names; typed in its module. */
  readonly routeReaders: unknown[];
  /** How many copies of @grpc/grpc-js are traced, whose calls are no requests of HTTP/2. */
  tracedGrpc: number;
  /** What instrumentations measure calls by, typed in its own module; undefined while metrics are off, which is the whole cost of them then. */
  measures: unknown;
  /** The spans that the program wants measured, typed in its own module. */
  spanMetrics: unknown;
  /** What measures them as they end, typed in its own module; undefined is the whole cost while there is none. */
  spanMeasures: unknown;
}

const COUNTER_SLOTS = 64;

const isDisabledByEnvironment = (): boolean => {
  const value = process.env.SPANLINE_DISABLED;
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
};

const create = (): ProcessState => ({
  enabled: !isDisabledByEnvironment(),
  development: process.env.NODE_ENV === 'development',
  queueStore: new FrameStore<TaskQueue>(),
  unfinished: [],
  names: { texts: [''], numbers: new Map() },
  readNames: { texts: [], numbers: new Map() },
  scopes: [],
  counters: new Float64Array(COUNTER_SLOTS),
  defaultCollector: undefined,
  carriesContexts: false,
  signalWork: new Map(),
  flightRecorder: undefined,
  labelling: undefined,
  queueSwitches: undefined,
  timeline: undefined,
  takeStacks: undefined,
  instrumentations: undefined,
  routeReaders: [],
  tracedGrpc: 0,
  measures: undefined,
  spanMetrics: undefined,
  spanMeasures: undefined,
});

/** The state of this thread (a worker thread has its own). */
export const state: ProcessState = sharedState('spanline.state.1', create);
