// Options of the triggers: defaults, and a check that names the option that is wrong. A trigger that could never fire is refused here, for it
// would be missed only on the day that it is needed.
import { wrongOption } from '../base/errors.js';
import { anyNumber, flag } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';
import { whyNoSignal } from './trigger-signals.js';

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
