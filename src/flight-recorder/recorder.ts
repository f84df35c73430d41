// The flight recorder: every span of the last minute of a collector, in a ring, whatever the sampler and `keep` decided about sending. It is
// called on the recording path: what fails is counted there, never thrown.
import { timers } from '../base/calls/timers.js';
import { now, takeAnchor } from '../clock/index.js';
import type { Collector } from '../collector/collector.js';
import type { TraceObserver, TracePart } from '../collector/trace-part.js';
import { enteredQueue } from '../local-span/local-span.js';
import { CHUNK_ROWS, RowChunk } from '../rows/row-chunk.js';
import type { RowJournal } from '../rows/row-store.js';
import { TraceBit, type TraceTable } from '../rows/trace-table.js';
import type { ActiveTrace, EndedRoot } from '../span/active-trace.js';
import type { Span } from '../span/span.js';
import type { Block } from './block.js';
import { BlockMaker } from './block-maker.js';
import { BlockSnapshot } from './block-snapshot.js';
import { FlightRing } from './flight-ring.js';
import { HeapLimit } from './heap-limit.js';
import {
  CopiedTraces,
  MAX_OPEN_SPANS,
  newestOpenBlock,
  OpenSpanTable,
  type OpenWork,
  openBlocks,
} from './open-spans.js';
import type { ResolvedRecorder } from './recorder-options.js';
import { putRootTimes } from './root-times.js';
import { RowsFiles, type RowsSource } from './rows-files.js';
import { SnapshotDirectory, writeSnapshotFile } from './snapshot-file.js';
import type { SnapshotReason } from './snapshot-types.js';
import type { Timeline } from './timeline/timeline.js';
import { Triggers } from './triggers.js';

/** What the recorder holds and has refused, as `stats().flightRecorder` shows it. */
export interface FlightRecorderStats {
  /** Ended spans held, their bytes and blocks, and the age of the oldest in milliseconds. */
  readonly spans: number;
  readonly bytes: number;
  readonly blocks: number;
  readonly bufferedMs: number;
  /** Spans dropped before `minAgeMs`, because of `maxBytes`. */
  readonly spansEvictedEarly: number;
  /** Spans that have not ended, and those that were given up for others. */
  readonly openSpans: number;
  readonly openSpansForgotten: number;
  /** Local spans that have not ended, and were left out of snapshots because there were too many. */
  readonly openLocalSpansLeftOut: number;
  /** Snapshots that triggers have written, and triggers that came too soon after another one. */
  readonly snapshots: number;
  readonly triggersSkipped: number;
  /** False where the trigger is off, or the library's binary for this Node is not there. */
  readonly isHeapWatched: boolean;
  /** Operations whose usual duration is watched, those that made room for others, and roots of operations that found no place. */
  readonly operations: number;
  readonly operationsForgotten: number;
  readonly rootsNotCompared: number;
  /** Snapshots and writes to `file` that have failed, and rows that could not be kept. */
  readonly failed: number;
}

/** The event-loop timeline, as far as the recorder needs it. */
type TimelineSource = Pick<Timeline, 'rows' | 'stop'> & Partial<Pick<Timeline, 'listen' | 'keptFromUs'>>;

// Of its own blocks cancelled traces are marked.
const NONE: ReadonlySet<string> = new Set();
const KEEP_INTERVAL_MS = 200;
const TIMELINE_INTERVAL_MS = 1000;
// By so much the Unix time of one row may differ between two looks: the same row must not come twice.
const TIMELINE_JITTER_US = 50;

export class FlightRecorder implements TraceObserver {
  readonly #collector: Collector;
  readonly #timeline: TimelineSource | undefined;
  readonly openSpans: OpenSpanTable;
  readonly journal: RowJournal | null;
  readonly #ring: FlightRing;
  readonly #maker: BlockMaker;
  readonly #files: RowsFiles | undefined;
  readonly #triggers: Triggers;
  readonly #timers: NodeJS.Timeout[] = [];
  #mounted = new RowChunk(CHUNK_ROWS);
  readonly #mountedTraces = new CopiedTraces();
  #heap: HeapLimit | undefined;
  // Since when the timeline is watched, and up to where it was written to files.
  readonly #timelineFromUs = timers.wallMs() * 1000;
  #timelineUs = 0;
  #lookedMs = 0;
  #failed = 0;
  #localSpansLeftOut = 0;
  #isBusy = false;

  /** Opens its files, and does nothing else before {@link start}. Throws `ERR_SPANLINE_OPTION` for a directory `file` that cannot be written to. */
  constructor(
    collector: Collector,
    readonly options: ResolvedRecorder,
    timeline: TimelineSource | undefined,
  ) {
    this.#collector = collector;
    this.#timeline = timeline;

    const { maxBytes, file, triggers } = options;
    this.#ring = new FlightRing(options);
    this.#maker = new BlockMaker(this.#ring.allocate, true);
    this.#files = file === undefined ? undefined : new RowsFiles(file, maxBytes, this.#rowsSource());
    this.journal = this.#files?.tail ?? null;
    this.openSpans = new OpenSpanTable(MAX_OPEN_SPANS, this.#files?.tail);
    this.#triggers = new Triggers(triggers, (reason) => this.snapshot(reason));
  }

  /** Keep what the collector has from now on, and listen for triggers. Once. */
  start(): this {
    const { directory, heapLimit } = this.options.triggers;
    this.#triggers.start();
    if (heapLimit === true && directory !== undefined) this.#watchHeap(directory);
    if (this.#files !== undefined || this.#heap !== undefined)
      this.#every(KEEP_INTERVAL_MS, () => this.#keepForLater());
    const timeline = this.#timeline;
    if (timeline !== undefined) this.#every(TIMELINE_INTERVAL_MS, () => this.#lookAtTimeline(timeline));
    if (this.#files !== undefined) timeline?.listen?.(() => this.#looked(timeline));
    this.#collector.observeWith(this);
    return this;
  }

  /** Keeps nothing any more, and forgets what it has. */
  stop(): void {
    if (this.#files !== undefined) this.#collector.observeNow();
    this.#collector.observeWith(null);
    for (const timer of this.#timers) timers.clearInterval(timer);
    this.#triggers.stop();
    this.#heap?.stop();
    this.#timeline?.listen?.(undefined);
    this.#timeline?.stop();
    this.#files?.close();
  }

  observe(chunk: RowChunk, from: number, traces: TraceTable): void {
    const wasBusy = this.#isBusy;
    this.#isBusy = true;
    try {
      this.#add(this.#maker.make(chunk, from, traces));
    } catch {
      this.#failed++;
    }
    this.#isBusy = wasBusy;
  }

  observeMounted(traces: TraceTable, number: number, chunk: RowChunk, row: number): void {
    const key = traces.keyOf(number);
    const isSampled = traces.has(number, TraceBit.sampled);
    const of = `${key.w0} ${key.w1} ${key.w2} ${key.w3} ${isSampled}`;
    const slot = this.#mountedTraces.numberOf(of, key, traces.resourceOf(number), isSampled);
    this.#mounted.copy(chunk, row, slot);
    if (this.#mounted.isFull) this.#addMounted();
  }

  ended(trace: ActiveTrace, root: EndedRoot): boolean {
    try {
      return this.#triggers.ended(trace, root);
    } catch {
      this.#failed++;
      return false;
    }
  }

  reporting(parts: readonly TracePart[]): void {
    if (!this.options.rootTimes || this.#timeline === undefined) return;
    try {
      putRootTimes(parts, { timeline: this.#timeline, fromUs: this.#timelineFromUs });
    } catch {
      this.#failed++;
    }
  }

  cancelled(trace: ActiveTrace): void {
    try {
      this.#files?.tail?.cancelled(trace);
      this.#files?.cancel(trace.context.traceId);
      const { context } = trace;
      // Some may be of this trace.
      this.#addMounted();
      const readers = trace.blocks;
      if (readers !== undefined) this.#exclusively(this.#ring, (ring) => ring.cancel(context, ...readers));
    } catch {
      this.#failed++;
    }
  }

  /** What is held now: a consistent cut. It stays as it is while spans go on. */
  snapshot(reason: SnapshotReason): BlockSnapshot {
    this.#collector.observeNow();
    this.#addMounted();
    const taken = now();
    const open = openBlocks(this.#openWork(taken));
    this.#localSpansLeftOut += open.leftOut;
    return new BlockSnapshot({
      reason,
      anchor: takeAnchor(),
      taken,
      resource: this.#collector.life.resource,
      blocks: this.#exclusively(this.#ring, (ring) => ring.share()),
      open: open.blocks,
      timeline: this.#timeline?.rows() ?? [],
      ...this.#watched(),
      tornRows: 0,
      cancelled: NONE,
    });
  }

  /** For callers outside of the process. */
  async snapshotTo(path: string): Promise<{ readonly spanCount: number; readonly bufferedMs: number }> {
    const snapshot = this.snapshot({ kind: 'command', text: '', traceId: '' });
    await writeSnapshotFile(snapshot, path);
    const { spanCount, bufferedMs } = snapshot;
    return { spanCount, bufferedMs };
  }

  stats(): FlightRecorderStats {
    const [ring, triggers, { openSpans }] = [this.#ring, this.#triggers, this];
    return {
      spans: ring.spans,
      bytes: ring.bytes,
      blocks: ring.length,
      bufferedMs: ring.bufferedMs,
      spansEvictedEarly: ring.spansEvictedEarly,
      openSpans: openSpans.size,
      openSpansForgotten: openSpans.forgotten,
      openLocalSpansLeftOut: this.#localSpansLeftOut,
      snapshots: triggers.written + (this.#heap?.written ?? 0),
      isHeapWatched: this.#heap?.isOn ?? false,
      triggersSkipped: triggers.skipped,
      operations: triggers.usual.names,
      operationsForgotten: triggers.usual.forgotten,
      rootsNotCompared: triggers.usual.refused,
      failed: this.#failed + triggers.failed + (this.#files?.failed ?? 0),
    };
  }

  #rowsSource(): RowsSource {
    const { rows } = this.#collector.life;
    return {
      known: () => ({
        resource: this.#collector.life.resource,
        anchor: takeAnchor(),
        timelineFromUs: this.#timeline === undefined ? undefined : this.#timelineFromUs,
      }),
      makeBlocks: () => rows.observeAll(),
    };
  }

  #watchHeap(directory: string): void {
    const { maxFiles, minIntervalMs } = this.options.triggers;
    const place = new SnapshotDirectory(directory, maxFiles);
    this.#heap = new HeapLimit(place, minIntervalMs, () => this.#keepNewest());
    this.#ring.watcher = this.#heap;
    this.#toHeap(this.#heap);
  }

  #toHeap(heap: HeapLimit): void {
    const head = { resource: this.#collector.life.resource, anchor: takeAnchor(), ...this.#watched() };
    heap.update(head, this.#timeline, newestOpenBlock(this.#openWork(now())));
  }

  // For what is there when no JavaScript runs any more.
  #keepForLater(): void {
    this.#collector.observeNow();
    this.#addMounted();
    if (this.#heap !== undefined) this.#exclusively(this.#heap, (heap) => this.#toHeap(heap));
    this.#heap?.look();
    this.#files?.writeWaiting();
  }

  // In the middle of any code: the heap is filling, perhaps in this very turn of the event loop.
  #keepNewest(): void {
    if (this.#isBusy || this.#heap === undefined) return;
    this.#exclusively(this.#heap, (heap) => {
      try {
        this.#collector.life.rows.observeWhatIsStill();
        this.#toHeap(heap);
      } catch {
        this.#failed++;
      }
    });
  }

  /** What may not come in the middle of itself. */
  #exclusively<T, R>(of: T, work: (of: T) => R): R {
    const wasBusy = this.#isBusy;
    this.#isBusy = true;
    try {
      return work(of);
    } finally {
      this.#isBusy = wasBusy;
    }
  }

  #openWork(taken: number): OpenWork {
    return { spans: this.openSpans.all() as readonly Span[], queue: enteredQueue(), taken };
  }

  #add(block: Block | undefined): void {
    if (block === undefined) return;
    this.#files?.add(block);
    this.#ring.add(block);
  }

  #addMounted(): void {
    if (this.#mounted.count === 0) return;
    const { table } = this.#mountedTraces;
    try {
      this.#exclusively(this.#maker, (maker) => this.#add(maker.makeOf(this.#mounted, table)));
    } catch {
      this.#failed++;
    }
    this.#mounted.clear();
    this.#mountedTraces.clear();
  }

  #watched(): { readonly timelineFromUs?: number } {
    if (this.#timeline === undefined) return {};
    // Before that some of what the loop did is not known, and nothing that is missing may look like waiting.
    return { timelineFromUs: Math.max(this.#timelineFromUs, this.#timeline.keptFromUs?.() ?? 0) };
  }

  #lookAtTimeline(timeline: TimelineSource): void {
    const rows = timeline.rows(this.#timelineUs + TIMELINE_JITTER_US);
    if (rows.length === 0) return;
    this.#timelineUs = rows.reduce((last, { endUs }) => Math.max(last, endUs), 0);
    this.#lookedMs = timers.monotonicMs();
    this.#files?.addTimeline(rows);
    this.#triggers.looked(rows);
  }

  // In the middle of any code, while the timers wait for a turn that may never end: the process may be killed for it, and who has the loop is to be
  // in its files.
  #looked(timeline: TimelineSource): void {
    const ms = timers.monotonicMs();
    if (this.#isBusy || ms - this.#lookedMs < TIMELINE_INTERVAL_MS) return;
    this.#lookedMs = ms;
    this.#exclusively(this.#files, (files) => {
      files?.tail?.live();
      files?.addTimeline(timeline.rows(this.#timelineUs + TIMELINE_JITTER_US));
    });
  }

  #every(ms: number, work: () => void): void {
    const safely = (): void => {
      try {
        work();
      } catch {
        this.#failed++;
      }
    };
    this.#timers.push(timers.setInterval(safely, ms).unref());
  }
}
