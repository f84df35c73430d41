// Profiles a thread of somebody's program and writes files, also as the process ends. It must never change what the program does: what
// fails is said on standard error, once, and the program goes on.
import { mkdirSync } from 'node:fs';
import { findSourceMap } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { isMainThread, threadId } from 'node:worker_threads';
import type { LabelledProfile } from '../../profile/labelled-profile.js';
import { openWriter, type ProfileWriter } from '../../profile/output/profile-format.js';
import { openSourceMaps, resolveSources, type SourceMaps } from '../../profile/output/source-maps.js';
import { type RunningProfile, startProfile } from '../../profile/profile.js';
import { applyRetention, profileFileName } from '../../profile/sinks/retention.js';
import type { ChildOptions } from './child-options.js';
import { writeWhole } from './profile-files.js';

const NS_PER_MS = 1_000_000n;

/** The name with this put in before its extensions. */
const withSuffix = (file: string, suffix: string): string => {
  const extension = file.endsWith('.pb.gz')
    ? '.pb.gz'
    : file.endsWith('.speedscope.json')
      ? '.speedscope.json'
      : extname(file);
  return `${file.slice(0, file.length - extension.length)}${suffix}${extension}`;
};

export class ChildProfiler {
  private running: RunningProfile | undefined;
  private isStarting = false;
  private number = 0;
  private hasComplained = false;
  private timer: NodeJS.Timeout | undefined;

  private constructor(
    private readonly options: ChildOptions,
    private readonly writer: ProfileWriter,
    private readonly maps: SourceMaps | undefined,
  ) {}

  /** Loads what is needed later, when nothing can be waited for. */
  static async open(options: ChildOptions): Promise<ChildProfiler> {
    const writer = await openWriter(options.format);
    const maps = options.sourceMaps
      ? await openSourceMaps({ lookup: (url) => findSourceMap(url)?.payload })
      : undefined;
    return new ChildProfiler(options, writer, maps);
  }

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  async start(): Promise<void> {
    if (this.running !== undefined || this.isStarting) return;
    this.isStarting = true;
    try {
      this.running = await startProfile({ everyMs: this.options.everyMs });
      this.rotateLater();
    } catch (error) {
      this.complain(error);
    } finally {
      this.isStarting = false;
    }
  }

  /** End the profile under way and write it, before this returns. */
  stop(): void {
    const { running } = this;
    this.running = undefined;
    clearTimeout(this.timer);
    if (running === undefined) return;
    try {
      this.write(running.stop());
    } catch (error) {
      this.complain(error);
    }
  }

  private write(profile: LabelledProfile): void {
    const resolved = this.maps === undefined ? profile : resolveSources(profile, this.maps);
    const file = this.fileOf(profile);
    mkdirSync(dirname(file), { recursive: true });
    writeWhole(file, this.writer.write(resolved));
    this.number++;
  }

  private get writesMany(): boolean {
    return this.options.rotateMs !== undefined || this.options.isToggled;
  }

  private fileOf({ startUnixNs }: LabelledProfile): string {
    const { out, parent } = this.options;
    if (this.writesMany) {
      const beganMs = Number(startUnixNs / NS_PER_MS);
      return join(out, profileFileName(beganMs, this.number, threadId, this.writer.extension));
    }
    const process_ = process.ppid === parent ? '' : `-${process.pid}`;
    return withSuffix(out, `${process_}${isMainThread ? '' : `-thread${threadId}`}`);
  }

  private rotateLater(): void {
    const { rotateMs } = this.options;
    if (rotateMs === undefined) return;
    this.timer = setTimeout(() => this.rotate(rotateMs), rotateMs);
    this.timer.unref();
  }

  private rotate(rotateMs: number): void {
    const { budgetPercent = Number.POSITIVE_INFINITY, files, out } = this.options;
    const cost = this.running?.costPercent() ?? 0;
    this.stop();
    applyRetention(out, { files }, Date.now()).catch((error: unknown) => this.complain(error));
    // So long that profile and pause together are within the budget.
    const pauseMs = Math.max(0, (cost / budgetPercent - 1) * rotateMs);
    if (pauseMs === 0) {
      void this.start();
      return;
    }
    this.timer = setTimeout(() => void this.start(), pauseMs);
    this.timer.unref();
  }

  private complain(error: unknown): void {
    if (this.hasComplained) return;
    this.hasComplained = true;
    process.stderr.write(`spanline: the profile failed: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}
