// An archive: a directory of finished traces. It must never lose what it acknowledged, never answer with a part that looks whole without
// saying so, and never hold more than its bounds.

import { BadOptionsError, BadValueError, ClosedError, TransportError } from '@spanline/graph';
import { badOptions } from '@spanline/graph/internal';
import { isBucket, makeDirectory, wholeNumber } from 'spanline/internal/base';
import type { ArchivedResource, ArchivedSpan } from 'spanline/internal/record';
import type { TimelineRow } from 'spanline/internal/timeline';
import {
  type ArchiveOptions,
  type ArchiveStats,
  type DamagedSegment,
  type ResolvedArchiveOptions,
  type Retention,
  resolveOptions,
} from './archive-options.js';
import { Arrivals } from './arrivals.js';
import { tracesFrom } from './ask-sources.js';
import { BackgroundWork } from './background-work.js';
import type { BucketHome } from './bucket/bucket-home.js';
import type { StoreStats } from './bucket/object-store.js';
import type { UnsentFiles } from './bucket/spool.js';
import { BufferedSpans } from './buffered-spans.js';
import { searchSources } from './search-sources.js';
import { DirectoryPlace } from './segment-place.js';
import { SegmentSet } from './segment-set.js';
import { OtherWriters, Snapshots } from './snapshots.js';
import { mergedStretches, TimelineFiles, type TimelineStretch } from './timeline/timeline-files.js';
import { shownName, UNKNOWN_SERVICE } from './trace-facts.js';
import type { TraceSearch, TraceSummary } from './trace-search.js';
import { type Operation, operationsOf, type QueryOptions, servicesOf } from './trace-source.js';
import { describe } from './values/values.js';
import { WorkThread } from './work-thread.js';

/** How a call reads: `signal` stops it, `onDamage` gets what cannot be read while the rest answers, `onOver` the time from which a search left something out. */
export type ArchiveCall = QueryOptions;

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100_000;
const TRACE_ID = /^[0-9a-f]{32}$/;

/**
 * Finished traces on disk, written by `ArchiveReporter`, `append` or `spanline serve`, read by id or by search.
 *
 * Any number of processes may write to one directory and read from it. `flush` acknowledges: what was appended before it survives a power
 * failure. Without it a killed process loses nothing that `append` took, a power failure the last second or two. What a process that died
 * had not made a segment of is read by all, and made one by the next that opens the archive. Rejects with a `GraphError`.
 *
 * `append` encodes spans and writes them to a file before it returns, about a microsecond each. They become
 * unsorted segments at little more cost; a process that is not busy, or another that has the archive open, sorts and merges these, in a worker thread that is
 * started when there is work for it and keeps no process alive once that is done.
 *
 * @example
 * ```ts
 * import { setReporter, shutdown, Span } from 'spanline';
 * import { Archive, ArchiveReporter } from '@spanline/archive';
 *
 * const archive = await Archive.open('./traces');
 * setReporter(new ArchiveReporter(archive));
 * Span.root('GET /query').end();
 * await shutdown();
 * const [summary] = await archive.search({ name: 'GET /query' });
 * console.assert((await archive.trace(summary.traceId)).length === 1);
 * await archive.close();
 * ```
 */
export class Archive {
  readonly #options: ResolvedArchiveOptions;
  readonly #bucket: BucketHome | undefined;
  /** What queries read. */
  readonly #set: SegmentSet;
  /** The directory that this process writes to: that of the archive, or its spool. */
  readonly #written: SegmentSet;
  readonly #buffered: BufferedSpans;
  readonly #worker: WorkThread;
  readonly #snapshots: Snapshots;
  readonly #background: BackgroundWork;
  readonly #timelines: TimelineFiles;
  #endedSearch: DamagedSegment | undefined;
  #isClosed = false;

  private constructor(
    /** Its directory, or the address of its bucket. */
    readonly directory: string,
    options: ResolvedArchiveOptions,
    bucket?: BucketHome,
  ) {
    this.#options = options;
    this.#bucket = bucket;
    const { openSegments, cacheBytes } = options;
    // A spool that another took over may be gone for a while.
    const mayBeMissing = (options.readOnly && options.mayBeMissing) || bucket !== undefined;
    const written = bucket?.directory ?? directory;
    this.#written = new SegmentSet(new DirectoryPlace(written, mayBeMissing), openSegments, cacheBytes);
    this.#set = bucket === undefined ? this.#written : new SegmentSet(bucket.place, openSegments, cacheBytes);
    this.#worker = new WorkThread(options.worker);
    this.#buffered = new BufferedSpans(written, options, bucket);
    this.#timelines = new TimelineFiles(written);
    this.#snapshots = new Snapshots(this.#set, this.#buffered, new OtherWriters(written));
    // A spool is uploaded as it is.
    const work = bucket === undefined ? options : { ...options, maintain: false };
    this.#background = new BackgroundWork(this.#written, this.#buffered, work, this.#worker, this.#timelines);
  }

  /**
   * Open the archive in `directory`, making it unless `readOnly`, and take over what writers that died have left; or the one in an object
   * store at `s3://bucket/prefix`, which is written by way of the directory `spool`.
   */
  static async open(directory: string, options: ArchiveOptions = {}): Promise<Archive> {
    const resolved = resolveOptions(options);
    const archive = isBucket(directory)
      ? await Archive.#inBucket(directory, options, resolved)
      : Archive.#inDirectory(directory, resolved);
    try {
      if (resolved.readOnly) await archive.#snapshots.run({}, async () => {});
      else await archive.#background.start();
      archive.#startUploads();
    } catch (error) {
      await archive.close();
      throw error;
    }
    return archive;
  }

  static #inDirectory(directory: string, options: ResolvedArchiveOptions): Archive {
    if (!options.readOnly) makeHome(directory);
    return new Archive(directory, options);
  }

  static async #inBucket(location: string, given: ArchiveOptions, resolved: ResolvedArchiveOptions): Promise<Archive> {
    const { BucketHome, OPEN_SEGMENTS } = await import('./bucket/bucket-home.js');
    const bucket = await BucketHome.open(location, given);
    return new Archive(bucket.store.name, { ...resolved, openSegments: given.openSegments ?? OPEN_SEGMENTS }, bucket);
  }

  #startUploads(): void {
    this.#bucket?.start({
      replacesOf: async (name) => (await this.#written.card(name))?.info.replaces,
      rotateTimelines: () => this.#timelines.rotate(),
      onAdopted: () => this.#background.lookSoon(),
      worker: this.#worker,
    });
  }

  /**
   * Take finished spans in order and give the number taken. The rest is refused and counted, because too many are held. Throws with none
   * taken: `BadKeyError`, `BadValueError` (which name the field) or `LimitError` for a span that cannot be, `TransportError` when the
   * disk takes none.
   */
  append(spans: readonly ArchivedSpan[]): number {
    this.#checkWritable();
    if (!Array.isArray(spans)) throw new BadValueError(`append takes a list of spans, not ${describe(spans)}`);
    return this.#buffered.append(spans);
  }

  /**
   * Take finished spans of a report; see `WalWriter.appendFinished`.
   * @internal
   */
  appendFinished(...spans: Parameters<BufferedSpans['appendFinished']>): ReturnType<BufferedSpans['appendFinished']> {
    this.#checkWritable();
    return this.#buffered.appendFinished(...spans);
  }

  /**
   * Keep the timeline of a process: what its event loop and its garbage collector did from `fromUs` to `toUs`, Unix microseconds. `resource` is
   * that of its spans. Throws `LimitError` for more than 65,536 rows or 4 MiB at once, `BadValueError` for times that are none, `TransportError`
   * when the disk takes none. It is in the file when this returns; a power failure may take the last seconds.
   */
  appendTimeline(rows: readonly TimelineRow[], resource: ArchivedResource, fromUs: number, toUs: number): void {
    this.#checkWritable();
    this.#bucket?.checkOurs();
    this.#timelines.append(rows, resource, fromUs, toUs);
  }

  /** What timelines of all processes say of this time, Unix microseconds: the stretches that overlap it, in order of their start. */
  async timeline(fromUs: number, toUs: number): Promise<TimelineStretch[]> {
    this.#checkOpen();
    const here = await this.#timelines.read(fromUs, toUs);
    const there = (await this.#bucket?.timeline(fromUs, toUs)) ?? [];
    return there.length === 0 ? here : mergedStretches([...there, ...here]);
  }

  /** How many spans `append` would take now. */
  get room(): number {
    return this.#buffered.room;
  }

  /**
   * Resolves when everything appended before is on disk, of an archive in an object store on that of the spool: nothing short of losing the disk
   * takes it away.
   */
  async flush(): Promise<void> {
    await this.#buffered.flush();
  }

  /** Resolves when everything appended before is in segments; of an archive in an object store, when these are in the bucket. */
  async seal(): Promise<void> {
    this.#checkOpen();
    await this.#buffered.seal();
    await this.#bucket?.drain();
  }

  /** The spans of one trace, the root first and every span before its children; empty when there is none. */
  async trace(id: string, call?: ArchiveCall): Promise<ArchivedSpan[]> {
    return (await this.traces([id], call)).get(id) ?? [];
  }

  /** The spans of many traces, found together: thousands cost little more than one. Ids are 32 hex digits. */
  async traces(ids: readonly string[], call: ArchiveCall = {}): Promise<Map<string, ArchivedSpan[]>> {
    this.#checkOpen();
    for (const id of ids) {
      if (!TRACE_ID.test(id))
        throw new BadOptionsError(`${JSON.stringify(id)} is not a trace id: 32 lower-case hex digits`);
    }
    return this.#snapshots.run(call, (sources, ask) => tracesFrom(sources, ids, ask));
  }

  /**
   * Summaries of the traces that meet all conditions, the newest first. Whole traces are what is asked about, in whatever files their parts
   * lie.
   */
  async search(search: TraceSearch = {}, call: ArchiveCall = {}): Promise<TraceSummary[]> {
    this.#checkOpen();
    const { limit = DEFAULT_LIMIT } = search;
    wholeNumber('limit', limit, [1, MAX_LIMIT], badOptions);
    const { unnamedService = UNKNOWN_SERVICE } = call;
    const report = (fault: DamagedSegment, latestUnixNs: bigint): void => {
      this.#endedSearch = fault;
      call.onDamage?.(fault);
      call.onOver?.(latestUnixNs);
    };
    const found = await this.#snapshots.run(call, (sources, ask) =>
      searchSources(sources, { ...search, limit, unnamedService }, { ...ask, ...this.#bucket?.searchBound(report) }),
    );
    return found.map((summary) => ({ ...summary, service: shownName(summary.service, unnamedService) }));
  }

  /** Names of the services that have spans, sorted; of a segment with a million characters of names, the first. */
  async services(call: ArchiveCall = {}): Promise<string[]> {
    this.#checkOpen();
    return this.#snapshots.run(call, (sources) => servicesOf(sources, call.unnamedService));
  }

  /** Names and kinds of the spans of a service, sorted. */
  async operations(service: string, call: ArchiveCall = {}): Promise<Operation[]> {
    this.#checkOpen();
    return this.#snapshots.run(call, (sources) => operationsOf(sources, service, call.unnamedService));
  }

  /** All traces as they are when it begins, each whole and once, in no order; for export. All segments stay open until it ends. */
  scan(call: ArchiveCall = {}): AsyncGenerator<readonly ArchivedSpan[], undefined, void> {
    this.#checkOpen();
    return this.#snapshots.scan(call);
  }

  /**
   * Follow the requests that arrive, from whatever process.
   * @internal
   */
  arrivals(): Arrivals {
    this.#checkOpen();
    return new Arrivals(this.#set);
  }

  /** Merge segments now, as far as `mergedSpans` allows. Does nothing while another process is at it. */
  async compact(): Promise<void> {
    this.#checkWritable();
    await (this.#bucket === undefined ? this.#background.compact() : this.#bucket.compact());
  }

  /**
   * Sort and merge now what is sorted and merged in the background: for a process that fills an archive and ends. What fails is counted.
   * @internal
   */
  async tidy(): Promise<void> {
    this.#checkWritable();
    if (this.#bucket === undefined) await this.#background.tidy();
  }

  /** Delete what is older or more than `limits`, or else the options, allow. Does nothing while another process is at it. */
  async retain(limits: Retention = this.#options): Promise<void> {
    this.#checkWritable();
    resolveOptions(limits);
    await (this.#bucket === undefined ? this.#background.retain(limits) : this.#bucket.retain(limits));
  }

  async stats(): Promise<ArchiveStats> {
    this.#checkOpen();
    const { segments, unsortedSegments, spans, bytes, walFiles } = await this.#snapshots.sizes();
    const background = this.#background.stats();
    return {
      segments,
      unsortedSegments,
      spans,
      bytes,
      bufferedSpans: this.#buffered.count,
      walBytes: this.#buffered.walBytes,
      walFiles,
      appendedSpans: this.#buffered.appended,
      refusedSpans: this.#buffered.refused,
      segmentsWritten: this.#buffered.seals,
      ...background,
      ...this.#worker.stats(),
      // Who only reads takes nothing over.
      tornBytes: background.tornBytes + (this.#options.readOnly ? this.#snapshots.tornBytes : 0),
      failures: background.failures + this.#buffered.failures,
      lastFailure: this.#buffered.lastFailure || background.lastFailure,
      timelineRows: this.#timelines.rows,
      timelineTornLines: this.#timelines.tornLines,
      timelineFilesDeleted: this.#timelines.deleted,
      damaged: this.#damaged(),
      ...(this.#bucket === undefined ? {} : { bucket: this.#bucket.stats(this.#options.segmentMs) }),
    };
  }

  /**
   * Files that could not be read, or not whole. Of a directory all are looked at; of a bucket those that were asked.
   * @internal
   */
  async damaged(): Promise<readonly DamagedSegment[]> {
    this.#checkOpen();
    return this.#bucket === undefined ? (await this.stats()).damaged : this.#damaged();
  }

  /**
   * Why the last search that was ended by its bound is not of everything: no file is damaged.
   * @internal
   */
  get endedSearch(): DamagedSegment | undefined {
    return this.#endedSearch;
  }

  /**
   * Requests to an object store and bytes of them until now; undefined for a directory.
   * @internal
   */
  traffic(): StoreStats | undefined {
    return this.#bucket?.store.stats();
  }

  /**
   * What keeps this process from uploading to an object store, or from maintaining it; also when it is closed.
   * @internal
   */
  troubles(): readonly string[] {
    return this.#bucket?.troubles() ?? [];
  }

  /**
   * What was in the spool when it was closed, and is not in the bucket; undefined before that, and for a directory.
   * @internal
   */
  get unsent(): UnsentFiles | undefined {
    return this.#bucket?.unsent;
  }

  #damaged(): readonly DamagedSegment[] {
    const damaged = this.#set.damaged();
    return this.#set === this.#written ? damaged : [...damaged, ...this.#written.damaged()];
  }

  /** Make a segment of what is held and release everything. Should that fail, it is left to the next one who opens the archive. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#background.stop();
    try {
      await this.#buffered.seal();
    } finally {
      this.#buffered.abandon();
      await this.#bucket?.stop();
      await this.#worker.close();
      await this.#set.close();
      if (this.#written !== this.#set) await this.#written.close();
      this.#bucket?.close();
    }
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new ClosedError(`the archive ${this.directory} is closed`);
  }

  #checkWritable(): void {
    this.#checkOpen();
    if (this.#options.readOnly)
      throw new BadOptionsError(`${this.directory} was opened to read; open it without readOnly`);
  }
}

const makeHome = (directory: string): void => {
  try {
    makeDirectory(directory);
  } catch (cause) {
    throw new TransportError(`the archive ${directory} cannot be made: ${(cause as Error).message}`, { cause });
  }
};
