// Options of the flight recorder: defaults, and a check that names the option that is wrong.
import { accessSync, constants } from 'node:fs';
import { wrongOption } from '../base/errors.js';
import { makeDirectory } from '../base/files/fs-steps.js';
import { anyNumber, flag } from '../base/options/checks.js';
import { checkNames } from '../collector/options.js';
import { type ResolvedTriggers, resolveTriggers, type TriggerOptions } from './trigger-options.js';

/** Options of the flight recorder. */
export interface FlightRecorderOptions {
  /** Milliseconds that spans are kept for, as far as `maxBytes` allows. Default 60000. */
  readonly minAgeMs?: number;
  /** Bytes of the spans kept; beyond, the oldest are dropped. Default 64 MiB. */
  readonly maxBytes?: number;
  /** A directory in which the spans kept lie in files as well, so that they outlive a process that is killed. */
  readonly file?: string;
  readonly triggers?: TriggerOptions;
  /** Watch the event loop as well: garbage collections, busy stretches and their owners. Default true. */
  readonly timeline?: boolean;
  /**
   * Put on the root of each trace that is reported where its time went, as properties `spanline.time.own_ns` and so on. Needs the timeline.
   * Default false.
   */
  readonly rootTimes?: boolean;
}

const MIB = 1 << 20;
const NUMBERS = { minAgeMs: 60_000, maxBytes: 64 * MIB } as const;
const KNOWN = [...Object.keys(NUMBERS), 'file', 'triggers', 'timeline', 'rootTimes'] as const;

export interface ResolvedRecorder {
  readonly minAgeMs: number;
  readonly maxBytes: number;
  readonly file: string | undefined;
  readonly triggers: ResolvedTriggers;
  readonly timeline: boolean;
  readonly rootTimes: boolean;
}

// Made at once: what is wrong with it is said where it is set, not at the crash.
const makePlace = (where: string, path: string | undefined): void => {
  if (path === undefined) return;
  try {
    makeDirectory(path, 0o700);
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw wrongOption(`Option "${where}": ${(error as Error).message}; name a directory that may be written to`);
  }
};

const checkPath = (where: string, value: unknown): void => {
  if (value !== undefined && (typeof value !== 'string' || value === ''))
    throw wrongOption(`Option "${where}" must be a path that is not empty`);
};

/** Check and complete; the directories are made last, when all else is right. Throws `ERR_SPANLINE_OPTION`. */
export const resolveRecorder = (
  options: FlightRecorderOptions,
  isMainThread = process.getBuiltinModule('node:worker_threads').isMainThread,
): ResolvedRecorder => {
  checkNames(options, KNOWN, 'flightRecorder');
  const { minAgeMs = NUMBERS.minAgeMs, maxBytes = NUMBERS.maxBytes } = options;
  const { file, timeline = true, rootTimes = false } = options;
  anyNumber('Option "flightRecorder.minAgeMs"', minAgeMs, [1], wrongOption);
  anyNumber('Option "flightRecorder.maxBytes"', maxBytes, [MIB], wrongOption);
  flag('Option "flightRecorder.timeline"', timeline, wrongOption);
  flag('Option "flightRecorder.rootTimes"', rootTimes, wrongOption);
  // The timeline is that of the main thread's event loop: an empty one would say that a worker always waited.
  const hasTimeline = timeline && isMainThread;
  if (rootTimes && !hasTimeline) {
    const remedy = isMainThread ? 'leave out "timeline: false"' : 'a worker has none, so leave it out here';
    throw wrongOption(`Option "flightRecorder.rootTimes" needs the event-loop timeline: ${remedy}`);
  }
  const triggers = resolveTriggers(options.triggers ?? {}, { hasTimeline, isMainThread });
  checkPath('flightRecorder.triggers.directory', triggers.directory);
  checkPath('flightRecorder.file', file);
  if (file !== undefined && !isMainThread)
    throw wrongOption(
      'Option "flightRecorder.file" is for the main thread, whose spans its files are: leave it out here',
    );
  makePlace('flightRecorder.triggers.directory', triggers.directory);
  makePlace('flightRecorder.file', file);
  return { minAgeMs, maxBytes, file, timeline: hasTimeline, rootTimes, triggers };
};
