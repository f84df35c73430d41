// Options of the flight recorder: defaults, and a check that names the option that is wrong.
import { mkdirSync } from 'node:fs';
import { wrongOption } from '../base/errors/option-error.js';
import { anyNumber, flag } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';

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
  /** The event loop was busy for so many milliseconds on end. */
  readonly stallMs?: number;
  /** This signal. One that ends a process still does, unless the program listens to it. */
  readonly signal?: NodeJS.Signals;
  /** An uncaught exception, an unhandled rejection, an exit code that is not 0. */
  readonly crash?: boolean;
  /** The heap is close to its limit. Written without running JavaScript, where the library's binary for this Node is there. */
  readonly heapLimit?: boolean;
  /** Milliseconds between two files. Default 60000. Crashes and signals do not wait. */
  readonly minIntervalMs?: number;
  /** Files of snapshots kept, the oldest deleted. Default 10. */
  readonly maxFiles?: number;
}

/** Options of the flight recorder. */
export interface FlightRecorderOptions {
  /** Milliseconds that spans are kept for, as far as `maxBytes` allows. Default 60000. */
  readonly minAgeMs?: number;
  /** Bytes of the spans kept; beyond, the oldest are let go. Default 64 MiB. */
  readonly maxBytes?: number;
  /** A directory in which the spans kept lie in files as well, so that they outlive a process that is killed. */
  readonly file?: string;
  readonly triggers?: TriggerOptions;
  /** Watch the event loop as well: garbage collections, busy stretches and who had them. Default true. */
  readonly lane?: boolean;
  /**
   * Put on the root of each trace that is reported where its time went, as properties `spanline.time.own_ns` and so on. Needs the lane.
   * Default false.
   */
  readonly rootTimes?: boolean;
}

const MIB = 1 << 20;
const NUMBERS = { minAgeMs: 60_000, maxBytes: 64 * MIB } as const;
const KNOWN = [...Object.keys(NUMBERS), 'file', 'triggers', 'lane', 'rootTimes'] as const;
const TRIGGER_NUMBERS = ['slowMs', 'timesUsual', 'stallMs', 'minIntervalMs', 'maxFiles'] as const;
const TRIGGERS: readonly string[] = [...TRIGGER_NUMBERS, 'directory', 'signal', 'error', 'crash', 'heapLimit'];
const DEFAULT_TRIGGERS = { minIntervalMs: 60_000, maxFiles: 10 } as const;

export type ResolvedTriggers = TriggerOptions & Required<Pick<TriggerOptions, 'minIntervalMs' | 'maxFiles'>>;

export interface ResolvedRecorder {
  readonly minAgeMs: number;
  readonly maxBytes: number;
  readonly file: string | undefined;
  readonly triggers: ResolvedTriggers;
  readonly lane: boolean;
  readonly rootTimes: boolean;
}

// Made at once: what is wrong with it is said where it is set, not at the crash.
const makeDirectory = (where: string, value: unknown): void => {
  if (value === undefined) return;
  if (typeof value !== 'string' || value === '')
    throw wrongOption(`Option "${where}" must be a path that is not empty`);
  try {
    mkdirSync(value, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw wrongOption(`Option "${where}": ${(error as Error).message}`);
  }
};

const checkTriggers = (triggers: TriggerOptions): void => {
  const where = 'flightRecorder.triggers';
  checkNames(triggers, TRIGGERS, where);
  for (const name of TRIGGER_NUMBERS) {
    if (triggers[name] !== undefined) anyNumber(`Option "${where}.${name}"`, triggers[name], [1], wrongOption);
  }
  for (const name of ['error', 'crash', 'heapLimit'] as const) {
    if (triggers[name] !== undefined) flag(`Option "${where}.${name}"`, triggers[name], wrongOption);
  }
  makeDirectory(`${where}.directory`, triggers.directory);
  const { signal } = triggers;
  if (signal !== undefined && (typeof signal !== 'string' || !/^SIG[A-Z0-9]+$/.test(signal))) {
    throw wrongOption(`Option "${where}.signal" must be the name of a signal such as SIGUSR2, not ${String(signal)}`);
  }
};

/** Check and complete. Throws `ERR_SPANLINE_OPTION`. */
export const resolveRecorder = (options: FlightRecorderOptions): ResolvedRecorder => {
  checkNames(options, KNOWN, 'flightRecorder');
  const { minAgeMs = NUMBERS.minAgeMs, maxBytes = NUMBERS.maxBytes } = options;
  const { file, triggers = {}, lane = true, rootTimes = false } = options;
  anyNumber('Option "flightRecorder.minAgeMs"', minAgeMs, [1], wrongOption);
  anyNumber('Option "flightRecorder.maxBytes"', maxBytes, [MIB], wrongOption);
  flag('Option "flightRecorder.lane"', lane, wrongOption);
  flag('Option "flightRecorder.rootTimes"', rootTimes, wrongOption);
  if (rootTimes && !lane)
    throw wrongOption('Option "flightRecorder.rootTimes" needs the lane: leave out "lane: false"');
  checkTriggers(triggers);
  makeDirectory('flightRecorder.file', file);
  return { minAgeMs, maxBytes, file, lane, rootTimes, triggers: { ...DEFAULT_TRIGGERS, ...triggers } };
};
