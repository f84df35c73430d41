// The event-loop timeline: one for all copies of the library, however often it is started; without the addon by a timer, which shows by coming late
// that the loop was busy, not with what. Must cost next to nothing while nothing happens, and must not keep the process alive.

import { PerformanceObserver } from 'node:perf_hooks';
import { timers } from '../../base/calls/timers.js';
import { wrongOption } from '../../base/errors.js';
import { finiteNumber, wholeNumber } from '../../base/options/checks.js';
import { checkNames } from '../../collector/options.js';
import { type QueueSwitches, state } from '../../context/process-state.js';
import type { SpanQueue } from '../../local-span/local-span.js';
import { RunRing } from './native-rings.js';
import { NativeTimeline } from './native-timeline.js';
import {
  collectionKind,
  NO_COUNTS,
  type TimelineCounts,
  type TimelineRow,
  type TimelineSource,
  unixNow,
} from './timeline-row.js';

const PERIOD_MS = 20;

/** Milliseconds of `performance.now()`. */
interface TimedRow {
  readonly kind: 'busy' | 'gc';
  readonly startMs: number;
  readonly endMs: number;
  readonly detail: string;
}

export class TimerTimeline implements TimelineSource {
  readonly source = 'timer';
  readonly #rings = { busy: [] as TimedRow[], gc: [] as TimedRow[] };
  readonly #written = { busy: 0, gc: 0 };
  readonly #timer: NodeJS.Timeout;
  readonly #observer: PerformanceObserver;
  #dueMs = timers.monotonicMs() + PERIOD_MS;

  readonly #busyMs: number;
  readonly #maxRows: number;

  constructor(busyMs: number, maxRows: number) {
    this.#busyMs = busyMs;
    this.#maxRows = maxRows;
    this.#timer = timers.setInterval(() => this.#tick(), PERIOD_MS).unref();
    this.#observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { kind = 0 } = (entry as { detail?: { kind?: number } }).detail ?? {};
        const endMs = entry.startTime + entry.duration;
        const detail = collectionKind(kind);
        this.#add({ kind: 'gc', startMs: entry.startTime, endMs, detail });
      }
    });
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  stop(): void {
    timers.clearInterval(this.#timer);
    this.#observer.disconnect();
  }

  rows(sinceUs = Number.NEGATIVE_INFINITY): TimelineRow[] {
    const nowUs = unixNow();
    const nowMs = timers.monotonicMs();
    const toUnix = (ms: number): number => nowUs - (nowMs - ms) * 1000;
    return [...this.#rings.busy, ...this.#rings.gc]
      .filter(({ endMs }) => toUnix(endMs) > sinceUs)
      .sort((a, b) => a.startMs - b.startMs)
      .map(({ kind, startMs, endMs, detail }) => {
        return { kind, startUs: toUnix(startMs), endUs: toUnix(endMs), detail, parts: [] };
      });
  }

  counts(): TimelineCounts {
    const rows = this.#rings.busy.length + this.#rings.gc.length;
    return { ...NO_COUNTS, rows, rowsDropped: this.#written.busy + this.#written.gc - rows };
  }

  keptFromUs(): number {
    const { busy, gc } = this.#rings;
    const [nowUs, nowMs] = [unixNow(), timers.monotonicMs()];
    const dropped = [busy, gc].filter((rows, i) => [this.#written.busy, this.#written.gc][i] > rows.length);
    // A ring that is full holds rows in any order: the oldest is the first that began.
    const fromMs = dropped.map((rows) =>
      rows.reduce((first, { startMs }) => Math.min(first, startMs), Number.POSITIVE_INFINITY),
    );
    return fromMs.reduce((last, ms) => Math.max(last, nowUs - (nowMs - ms) * 1000), Number.NEGATIVE_INFINITY);
  }

  #tick(): void {
    const nowMs = timers.monotonicMs();
    if (nowMs - this.#dueMs >= this.#busyMs) {
      this.#add({ kind: 'busy', startMs: this.#dueMs, endMs: nowMs, detail: '' });
    }
    this.#dueMs = nowMs + PERIOD_MS;
  }

  #add(row: TimedRow): void {
    const { kind } = row;
    this.#rings[kind][this.#written[kind]++ % this.#maxRows] = row;
  }
}

/** Options of {@link monitorEventLoop}. */
export interface TimelineOptions {
  /** Milliseconds from which on a busy stretch of the event loop is kept. 5 by default. */
  readonly busyMs?: number;
  /**
   * Busy stretches that are kept, and as many collections, runs, parts, and stacks of CPU profiles; beyond, the oldest are dropped and counted.
   * 4096 by default.
   */
  readonly maxRows?: number;
}

/** What a timeline has taken and dropped, and by what means. */
export interface TimelineStats extends TimelineCounts {
  /** `native`: the addon, with the owners of the loop. `timer`: without it, coarser. `none`: in a worker, or stopped. */
  readonly source: TimelineSource['source'];
}

/** The event-loop timeline; see {@link monitorEventLoop}. */
export interface Timeline {
  /**
   * What is kept, in order of start, or of that what ends after `sinceUs` of Unix time. A busy stretch that is going on is the last, up to
   * now; it will be there again when it has ended.
   */
  rows(sinceUs?: number): TimelineRow[];
  stats(): TimelineStats;
  /** @internal Unix time in microseconds from which on no row is missing. */
  keptFromUs(): number;
  /** @internal Call this behind each look for the owner of the loop, in the middle of any code: one listener, or none. */
  listen(onLook: (() => void) | undefined): void;
  /** End it, unless somebody else has started it too. A second call does nothing. */
  stop(): void;
}

/** What all copies of the library share. */
interface SharedTimeline {
  readonly source: TimelineSource;
  readonly runs: RunRing;
  users: number;
}

const NOTHING: TimelineSource = {
  source: 'none',
  rows: () => [],
  counts: () => NO_COUNTS,
  keptFromUs: () => Number.NEGATIVE_INFINITY,
  stop: () => {},
};

const MAX_ROWS = 2 ** 20;

const beginTimeline = (busyMs: number, maxRows: number): SharedTimeline => {
  const runs = new RunRing(maxRows);
  const ran = (queue: unknown, ns: number): void => runs.add(queue as SpanQueue, ns);
  const switches: QueueSwitches = { counts: new Int32Array(2), left: undefined, ran };
  const source = NativeTimeline.start(busyMs, maxRows, switches) ?? new TimerTimeline(busyMs, maxRows);
  state.queueSwitches = switches;
  return { source, runs, users: 0 };
};

const endTimeline = ({ source }: SharedTimeline): void => {
  state.timeline = undefined;
  state.queueSwitches = undefined;
  source.stop();
};

const shareTimeline = (busyMs: number, maxRows: number): SharedTimeline => {
  const shared = (state.timeline as SharedTimeline | undefined) ?? beginTimeline(busyMs, maxRows);
  shared.users++;
  state.timeline = shared;
  return shared;
};

/**
 * Watch the event loop of this process: when it was busy and with which span, and when garbage was collected. Cheap enough to be left on, and
 * never keeps the process alive. There is one in a process: started again it goes on as it is, with the options of the first. In a worker it
 * stays empty. Throws `ERR_SPANLINE_OPTION` when an option is wrong.
 *
 * @example
 * ```ts
 * import { monitorEventLoop } from 'spanline/flight-recorder';
 *
 * const timeline = monitorEventLoop({ busyMs: 10 });
 * for (const row of timeline.rows()) {
 *   const owners = row.parts.map(({ name, frames }) => name || frames[0]).join(', ');
 *   console.log(`${row.kind} ${row.detail} ${(row.endUs - row.startUs) / 1000} ms ${owners}`);
 * }
 * timeline.stop();
 * ```
 */
export const monitorEventLoop = (options: TimelineOptions = {}): Timeline => {
  checkNames(options, ['busyMs', 'maxRows']);
  const busyMs = finiteNumber('Option "busyMs"', options.busyMs ?? 5, [1, 60_000], wrongOption);
  const maxRows = wholeNumber('Option "maxRows"', options.maxRows ?? 4096, [1, MAX_ROWS], wrongOption);
  let shared = process.getBuiltinModule('node:worker_threads').isMainThread
    ? shareTimeline(busyMs, maxRows)
    : undefined;
  const source = (): TimelineSource => shared?.source ?? NOTHING;
  return {
    rows: (sinceUs = Number.NEGATIVE_INFINITY) =>
      [...source().rows(sinceUs), ...(shared?.runs.rows(sinceUs) ?? [])].sort((a, b) => a.startUs - b.startUs),
    stats: () => {
      const counts = source().counts();
      const { count = 0, dropped = 0 } = shared?.runs ?? {};
      return {
        source: source().source,
        ...counts,
        rows: counts.rows + count,
        rowsDropped: counts.rowsDropped + dropped,
      };
    },
    keptFromUs: () => Math.max(source().keptFromUs(), shared?.runs.keptFromUs ?? Number.NEGATIVE_INFINITY),
    listen: (onLook) => {
      if (shared !== undefined) shared.source.onLook = onLook;
    },
    stop: () => {
      if (shared !== undefined && --shared.users === 0) endTimeline(shared);
      shared = undefined;
    },
  };
};
