// Profiles a thread of somebody's program and writes files, also as the process ends, as `spanline profile run` asks of the process it starts in one
// environment variable. It must never change what the program does: what fails is said on standard error, once, and the program goes on.

import { findSourceMap } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import {
  type ContinuousProfiler,
  continuousProfiler,
  type LabelledProfile,
  openSourceMaps,
  openWriter,
  type ProfileFormat,
  type ProfileWriter,
  type RunningProfile,
  resolveSources,
  type SourceMaps,
  startProfile,
} from '@spanline/profile';
import { applyRetention, EXTENSION_OF, profileFileName } from '@spanline/profile/internal';
import { escapeText, makeDirectory } from 'spanline/internal/base';
import { writeWhole } from './profile-files.js';

export const CHILD_VARIABLE = 'SPANLINE_PROFILE_RUN';

/** Says what failed on the standard error of the program. */
export const complain = (what: string, error: unknown): void => {
  const why = error instanceof Error ? error.message : String(error);
  process.stderr.write(`spanline: ${what}: ${escapeText(why)}\n`);
};

export interface ChildOptions {
  readonly everyMs: number;
  readonly format: ProfileFormat;
  /** A file; a directory when `rotateMs` or `isToggled` is given. Absolute. */
  readonly out: string;
  /** Process that started it: other processes add their id to the file's name. */
  readonly parent: number;
  readonly sourceMaps: boolean;
  /** Write a file and begin another so often. */
  readonly rotateMs?: number;
  /** Most CPU time the profile may cost, in percent; only with `rotateMs`. */
  readonly budgetPercent?: number;
  /** Files kept in the directory. */
  readonly files?: number;
  /** Begin and end at SIGUSR2. */
  readonly isToggled: boolean;
}

const NS_PER_MS = 1_000_000n;

/** The name with this put in before its extensions. */
const withSuffix = (file: string, suffix: string): string => {
  const extension = Object.values(EXTENSION_OF).find((each) => file.endsWith(each)) ?? extname(file);
  return `${file.slice(0, file.length - extension.length)}${suffix}${extension}`;
};

export class ChildProfiler {
  #running: RunningProfile | undefined;
  #continuous: ContinuousProfiler | undefined;
  #starting: Promise<void> | undefined;
  #number = 0;
  #hasComplained = false;

  readonly #options: ChildOptions;
  readonly #writer: ProfileWriter;
  readonly #maps: SourceMaps | undefined;

  private constructor(options: ChildOptions, writer: ProfileWriter, maps: SourceMaps | undefined) {
    this.#options = options;
    this.#writer = writer;
    this.#maps = maps;
  }

  /** Loads what is needed later, when nothing can be waited for. */
  static async open(options: ChildOptions): Promise<ChildProfiler> {
    const writer = await openWriter(options.format);
    const maps = options.sourceMaps
      ? await openSourceMaps({ lookup: (url) => findSourceMap(url)?.payload })
      : undefined;
    return new ChildProfiler(options, writer, maps);
  }

  async start(): Promise<void> {
    const { everyMs, rotateMs, budgetPercent } = this.#options;
    try {
      if (rotateMs === undefined) this.#running = await startProfile({ everyMs });
      else {
        const sink = (profile: LabelledProfile): void => this.#writeAndTidy(profile);
        this.#continuous = await continuousProfiler({ everyMs, rotateMs, budgetPercent, sink });
      }
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Begin a profile, or end the one that was begun, also while it is only about to. */
  toggle(): void {
    if (this.#starting !== undefined) {
      void this.#starting.then(() => this.stop());
      this.#starting = undefined;
    } else if (this.#running !== undefined) this.stop();
    else {
      const starting = this.start().finally(() => {
        if (this.#starting === starting) this.#starting = undefined;
      });
      this.#starting = starting;
    }
  }

  /** End the profile under way and write it, before this returns. */
  stop(): void {
    const running = this.#running;
    const continuous = this.#continuous;
    this.#running = undefined;
    this.#continuous = undefined;
    try {
      const last = running?.stop() ?? continuous?.stopNow();
      if (last !== undefined) this.#write(last);
      const failure = continuous?.stats().failure;
      if (failure !== undefined) this.#complain(failure);
    } catch (error) {
      this.#complain(error);
    }
  }

  // What throws here would be counted by the profiler alone, of which nobody asks.
  #writeAndTidy(profile: LabelledProfile): void {
    const { out, files } = this.#options;
    try {
      this.#write(profile);
      // Not waited for: the next profile must not wait in a process that may end at any time.
      applyRetention(out, { files }, Date.now()).then(
        ({ failure }) => failure !== undefined && this.#complain(failure),
        (error: unknown) => this.#complain(error),
      );
    } catch (error) {
      this.#complain(error);
    }
  }

  #write(profile: LabelledProfile): void {
    const resolved = this.#maps === undefined ? profile : resolveSources(profile, this.#maps);
    const file = this.#fileOf(profile);
    makeDirectory(dirname(file));
    writeWhole(file, this.#writer.write(resolved));
    this.#number++;
  }

  #fileOf({ startUnixNs }: LabelledProfile): string {
    const { out, parent, rotateMs, isToggled } = this.#options;
    if (rotateMs !== undefined || isToggled) {
      const beganMs = Number(startUnixNs / NS_PER_MS);
      return join(out, profileFileName(beganMs, this.#number, threadId, this.#writer.extension));
    }
    const process_ = process.ppid === parent ? '' : `-${process.pid}`;
    return withSuffix(out, `${process_}${isMainThread ? '' : `-thread${threadId}`}`);
  }

  #complain(error: unknown): void {
    if (this.#hasComplained) return;
    this.#hasComplained = true;
    complain('the profile failed', error);
  }
}
