// Options of the triggers: defaults, and a check that names the option that is wrong. A trigger that could never fire is refused here, for it
// would be missed only on the day that it is needed.
//
// Which signals can ask for a snapshot, and what becomes of the process then: the default actions of signals(7), with what Node changes of
// them.
import { constants } from 'node:os';
import { wrongOption } from '../base/errors.js';
import { anyNumber, flag } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';

// A process without a listener goes on. SIGUSR2 is the exception: it would end the process, and is what Node's own options take
// to ask for a report or a heap snapshot, where the process goes on.
const GOES_ON: readonly string[] = [
  'SIGUSR2',
  'SIGCHLD',
  'SIGCONT',
  'SIGINFO',
  'SIGPIPE',
  'SIGURG',
  'SIGWINCH',
  'SIGXFSZ',
];

const UNSAFE = 'no JavaScript may run after it';
const STOPS = 'it stops a process, which would go on if somebody listened';
const UNHEARD = 'no process can listen to it';

const WHY_NOT: Readonly<Record<string, string>> = {
  SIGKILL: UNHEARD,
  SIGSTOP: UNHEARD,
  SIGTSTP: STOPS,
  SIGTTIN: STOPS,
  SIGTTOU: STOPS,
  SIGBUS: UNSAFE,
  SIGFPE: UNSAFE,
  SIGILL: UNSAFE,
  SIGSEGV: UNSAFE,
  SIGUSR1: 'it opens the inspector of Node',
  SIGPROF: 'CPU profiles need it',
};

/** Why `signal` cannot ask for a snapshot, as the end of a sentence; undefined where it can. */
export const whyNoSignal = (signal: unknown): string | undefined => {
  if (typeof signal !== 'string' || !Object.hasOwn(constants.signals, signal)) {
    return 'must be the name of a signal of this system, such as SIGUSR2';
  }
  const why = Object.hasOwn(WHY_NOT, signal) ? WHY_NOT[signal] : undefined;
  return why === undefined ? undefined : `cannot be ${signal}, for ${why}: take another one, such as SIGUSR2`;
};

/** Whether it ends a process that does not listen to it. */
export const endsByDefault = (signal: NodeJS.Signals): boolean => !GOES_ON.includes(signal);

/** When a snapshot is written, and which traces are sent whatever the sampler and `keep` say. */
export interface TriggerOptions {
  /** Where snapshots go. Without it no file is written, and a trace that triggers is sent all the same. */
  readonly directory?: string;
  /** A trace takes longer than so many milliseconds. */
  readonly slowMs?: number;
  /** A trace takes longer than so many times what 99 of 100 of its operation (the name of its root) do not exceed. */
  readonly timesUsual?: number;
  /** A trace has a span with an error. */
  readonly error?: boolean;
  /** The event loop was busy for so many milliseconds on end. Needs the timeline. */
  readonly stallMs?: number;
  /** This signal. One that ends a process still does, unless the program listens to it; SIGUSR2 ends none. */
  readonly signal?: NodeJS.Signals;
  /** An uncaught exception, an unhandled rejection, an exit code that is not 0. */
  readonly crash?: boolean;
  /** The heap is full. Written without running JavaScript, where the library's binary for this Node is there. */
  readonly heapLimit?: boolean;
  /** Milliseconds between two files. Default 60000. Signals do not wait, nor does what ends the process. */
  readonly minIntervalMs?: number;
  /** Files of snapshots kept, the oldest deleted. Default 10. */
  readonly maxFiles?: number;
}

const NUMBERS = ['slowMs', 'timesUsual', 'stallMs', 'minIntervalMs', 'maxFiles'] as const;
const FLAGS = ['error', 'crash', 'heapLimit'] as const;
const KNOWN: readonly string[] = [...NUMBERS, ...FLAGS, 'directory', 'signal'];
const DEFAULTS = { minIntervalMs: 60_000, maxFiles: 10 } as const;
/** These do nothing but write a file. */
const NEED_DIRECTORY = ['stallMs', 'signal', 'crash', 'heapLimit'] as const;

const WHERE = 'flightRecorder.triggers';

/** Triggers with their defaults. */
export type ResolvedTriggers = TriggerOptions & Required<Pick<TriggerOptions, 'minIntervalMs' | 'maxFiles'>>;

/** Check and complete. `hasTimeline`: whether the event loop is watched. Throws `ERR_SPANLINE_OPTION`. */
export const resolveTriggers = (
  triggers: TriggerOptions,
  { hasTimeline, isMainThread }: { readonly hasTimeline: boolean; readonly isMainThread: boolean },
): ResolvedTriggers => {
  checkNames(triggers, KNOWN, WHERE);
  for (const name of NUMBERS) {
    if (triggers[name] !== undefined) anyNumber(`Option "${WHERE}.${name}"`, triggers[name], [1], wrongOption);
  }
  for (const name of FLAGS) {
    if (triggers[name] !== undefined) flag(`Option "${WHERE}.${name}"`, triggers[name], wrongOption);
  }
  const { signal, stallMs, directory } = triggers;
  const why = signal === undefined ? undefined : whyNoSignal(signal);
  if (why !== undefined) throw wrongOption(`Option "${WHERE}.signal" ${why}`);
  if (signal !== undefined && !isMainThread)
    throw wrongOption(
      `Option "${WHERE}.signal" is for the main thread, for a worker gets no signals: leave it out here`,
    );
  if (stallMs !== undefined && !hasTimeline) {
    const remedy = isMainThread ? 'leave out "timeline: false"' : 'a worker has none, so set it in the main thread';
    throw wrongOption(`Option "${WHERE}.stallMs" needs the event-loop timeline: ${remedy}`);
  }
  for (const name of NEED_DIRECTORY) {
    if (triggers[name] === undefined || triggers[name] === false || directory !== undefined) continue;
    throw wrongOption(`Option "${WHERE}.${name}" needs a place for its files: set "${WHERE}.directory"`);
  }
  return { ...DEFAULTS, ...triggers };
};
