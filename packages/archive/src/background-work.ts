// What an archive does beside answering: once a second held spans reach the disk, now and then segments are sorted and merged, old ones deleted, and
// files of dead writers taken over. One thing at a time; what fails is counted and tried again, never thrown at anybody. Sorting costs more than all
// that came before: a busy process leaves it for later, or for another that has the archive open, but never more than a bound.
import { performance } from 'node:perf_hooks';
import { timers } from 'spanline/internal/base';
import type { ArchiveStats, ResolvedArchiveOptions, Retention } from './archive-options.js';
import type { BufferedSpans } from './buffered-spans.js';
import { compact, recover, retain, unsortedIn } from './maintenance.js';
import { ALL_MERGES, BACKGROUND_MERGES, longestSpanMs } from './merge-plan.js';
import type { SegmentSet } from './segment-set.js';
import type { TimelineFiles } from './timeline/timeline-files.js';
import type { WorkThread } from './work-thread.js';

const BEAT_MS = 1000;
/** Beats between two looks at what there is to merge, delete and take over. */
const BEATS_PER_LOOK = 10;
/** A process whose event loop worked more than this share of the time since the last look is busy. */
const BUSY_SHARE = 0.5;
/** Unsorted segments that a busy process leaves: a search decodes some of them, and with so many it would take seconds. */
const MAX_UNSORTED = 32;

/** What was done. */
type BackgroundStats = Pick<
  ArchiveStats,
  'segmentsMerged' | 'segmentsDeleted' | 'recoveredFiles' | 'recoveredSpans' | 'tornBytes' | 'failures' | 'lastFailure'
>;

/** The work of one archive. */
export class BackgroundWork {
  readonly #set: SegmentSet;
  readonly #buffered: BufferedSpans;
  readonly #options: ResolvedArchiveOptions;
  readonly #worker: WorkThread;
  readonly #timelines: TimelineFiles;
  readonly #counts = {
    segmentsMerged: 0,
    segmentsDeleted: 0,
    recoveredFiles: 0,
    recoveredSpans: 0,
    tornBytes: 0,
    failures: 0,
    lastFailure: '',
  };
  #timer: NodeJS.Timeout | undefined;
  #beats = 0;
  #utilization = performance.eventLoopUtilization();
  #running: Promise<void> | undefined;

  constructor(
    set: SegmentSet,
    buffered: BufferedSpans,
    options: ResolvedArchiveOptions,
    worker: WorkThread,
    timelines: TimelineFiles,
  ) {
    this.#set = set;
    this.#buffered = buffered;
    this.#options = options;
    this.#worker = worker;
    this.#timelines = timelines;
  }

  /** Delete what is too old or too much, which makes room to take over what dead writers have left; then go on in the background. */
  async start(): Promise<void> {
    const { maintain } = this.#options;
    if (maintain) await this.#alone(() => this.#delete(this.#options)).catch((error: unknown) => this.#fail(error));
    await this.#alone(() => recover(this.#set, this.#worker, this.#counts));
    if (maintain && this.#counts.recoveredFiles > 0)
      await this.#alone(() => this.#delete(this.#options)).catch((error: unknown) => this.#fail(error));
    this.#timer = timers.setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  /** Resolves when nothing is under way any more. */
  async stop(): Promise<void> {
    timers.clearInterval(this.#timer);
    await this.#running?.catch(() => {});
  }

  /** Look for what can be taken over, at once. */
  lookSoon(): void {
    this.#alone(() => recover(this.#set, this.#worker, this.#counts)).catch((error: unknown) => this.#fail(error));
  }

  /** Merge whatever can be merged. */
  compact(): Promise<void> {
    return this.#alone(() => this.#merge(ALL_MERGES));
  }

  /** Sort and merge as an idle process does. */
  tidy(): Promise<void> {
    return this.#alone(() => this.#merge(BACKGROUND_MERGES)).catch((error: unknown) => this.#fail(error));
  }

  /** Delete what is older or more than `limits` allow. */
  retain(limits: Retention): Promise<void> {
    return this.#alone(() => this.#delete(limits));
  }

  stats(): BackgroundStats {
    return { ...this.#counts };
  }

  #beat(): void {
    const fail = (error: unknown): void => this.#fail(error);
    this.#buffered.beat().catch(fail);
    this.#beats++;
    if (this.#beats % BEATS_PER_LOOK === 0 && this.#running === undefined) this.#alone(() => this.#look()).catch(fail);
  }

  #fail(error: unknown): void {
    this.#counts.failures++;
    this.#counts.lastFailure = String(error);
  }

  async #look(): Promise<void> {
    const { maintain } = this.#options;
    if (maintain) await this.#delete(this.#options).catch((error: unknown) => this.#fail(error));
    await recover(this.#set, this.#worker, this.#counts);
    if (maintain && !(await this.#isLeftForLater())) await this.#merge(BACKGROUND_MERGES);
  }

  async #isLeftForLater(): Promise<boolean> {
    const before = this.#utilization;
    this.#utilization = performance.eventLoopUtilization();
    const isBusy = performance.eventLoopUtilization(this.#utilization, before).utilization > BUSY_SHARE;
    return isBusy && (await unsortedIn(this.#set)) <= MAX_UNSORTED;
  }

  async #delete(limits: Retention): Promise<void> {
    this.#counts.segmentsDeleted += await retain(this.#set, limits);
    this.#timelines.retain(limits);
  }

  async #merge(policy: typeof ALL_MERGES | typeof BACKGROUND_MERGES): Promise<void> {
    const { mergedSpans } = this.#options;
    const maxSpanMs = longestSpanMs(this.#options);
    this.#counts.segmentsMerged += await compact(this.#set, { ...policy, mergedSpans, maxSpanMs }, this.#worker);
  }

  #alone(work: () => Promise<void>): Promise<void> {
    const before = this.#running ?? Promise.resolve();
    const running = before
      .catch(() => {})
      .then(work)
      .finally(() => {
        if (this.#running === running) this.#running = undefined;
      });
    this.#running = running;
    return running;
  }
}
