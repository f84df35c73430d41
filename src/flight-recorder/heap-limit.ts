// Hands what the ring holds, and what is open, to the native part that writes it when the heap of this thread is full: no JavaScript runs
// then. Asked five times a second, so that it hands over what is new and nothing twice. Without the library's binary for this Node nothing
// is written, and `isOn` is true.
import { timers } from '../base/calls/timers.js';
import { type FastCall, loadFastCall } from '../clock/binding.js';
import { type Block, blockBytes, toJson } from './block.js';
import { SnapshotDirectory, type SnapshotHead } from './snapshot-file.js';
import { TURN_ROWS_FACTOR } from './timeline/native-rings.js';
import type { Timeline } from './timeline/timeline.js';
import { type TimelineRow, unixNow } from './timeline/timeline-row.js';

/** What of the head of the file is known before. */
type HeapHead = Omit<SnapshotHead, 'kind' | 'reason' | 'taken' | 'timeline' | 'cancelled' | 'tornRows' | 'blocks'>;

type Native = Required<FastCall>;

const REASON = { kind: 'heap-limit', text: 'the heap was full', traceId: '' } as const;
/** A stretch that goes on is there up to now, and will be there again when it has ended. */
const SETTLED_US = 20_000;
/** By so much the Unix time of one row may differ between two looks. */
const JITTER_US = 50;
/** As many as a timeline keeps by itself: busy stretches, collections, stretches of a full thread pool, runs, and short turns. */
const MAX_TIMELINE_ROWS = (4 + TURN_ROWS_FACTOR) * 4096;

const textOf = (rows: readonly TimelineRow[]): string => JSON.stringify(rows).slice(1, -1);

export class HeapLimit {
  readonly #native: Native | undefined;
  readonly #directory: SnapshotDirectory;
  readonly #minIntervalMs: number;
  #timelineUs: number;
  /** Files written, each of which the process has lived through. */
  written = 0;
  #writtenMs = 0;

  /** @param nearing Called in the middle of any code when what is newest should be handed over. Must not throw. */
  constructor(directory: SnapshotDirectory, minIntervalMs: number, nearing: () => void) {
    const { module } = loadFastCall();
    this.#native = module?.heapLimitStart === undefined ? undefined : (module as Native);
    this.#directory = directory;
    this.#minIntervalMs = minIntervalMs;
    this.#timelineUs = unixNow();
    const nameEnd = SnapshotDirectory.nameEnd(REASON.kind);
    this.#native?.heapLimitStart(
      directory.path,
      nameEnd,
      !process.getBuiltinModule('node:worker_threads').isMainThread,
      MAX_TIMELINE_ROWS,
      nearing,
    );
  }

  get isOn(): boolean {
    return this.#native !== undefined;
  }

  /** What there is beside the blocks of the ring, as it is now. */
  update(head: HeapHead, timeline: Pick<Timeline, 'rows'> | undefined, open: Block | undefined): void {
    const native = this.#native;
    if (native === undefined) return;
    const text = toJson({ ...head, kind: 'snapshot', reason: REASON, tornRows: 0, cancelled: [] });
    native.heapLimitHead(`${text.slice(0, -1)},"timeline":[`);
    if (timeline !== undefined) this.#updateTimeline(native, timeline);
    if (open === undefined) native.heapLimitOpen();
    else native.heapLimitOpen(open.buffer, blockBytes(open.size));
  }

  /** See whether a file was written, and watch once more an interval after that. */
  look(): void {
    const native = this.#native;
    if (native === undefined) return;
    const written = native.heapLimitWritten();
    if (written > this.written) {
      this.written = written;
      this.#writtenMs = timers.monotonicMs();
      this.#directory.removeOld();
    }
    if (written > 0 && timers.monotonicMs() - this.#writtenMs >= this.#minIntervalMs) native.heapLimitRearm();
  }

  added(block: Block): void {
    this.#native?.heapLimitAdd(block.buffer, blockBytes(block.size));
  }

  /** The oldest one. */
  removed(): void {
    this.#native?.heapLimitDrop();
  }

  /** Another one stands in the place of one, counted from the oldest on. */
  replaced(place: number, block: Block): void {
    this.#native?.heapLimitReplace(place, block.buffer, blockBytes(block.size));
  }

  stop(): void {
    this.#native?.heapLimitStop();
  }

  #updateTimeline(native: Native, timeline: Pick<Timeline, 'rows'>): void {
    const untilUs = unixNow() - SETTLED_US;
    const rows = timeline.rows(this.#timelineUs + JITTER_US);
    const settled = rows.filter(({ endUs }) => endUs <= untilUs);
    const open = rows.filter(({ endUs }) => endUs > untilUs);
    for (const { endUs } of settled) this.#timelineUs = Math.max(this.#timelineUs, endUs);
    native.heapLimitTimeline(textOf(settled), settled.length, textOf(open));
  }
}
